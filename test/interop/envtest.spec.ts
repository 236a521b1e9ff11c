import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findEtcd } from '../../scripts/etcd.js';
import { findKubectls } from '../../scripts/kubectl/kubectl.js';
import {
  keyPem,
  makeAuthority,
  makeClientPair,
  makeKey,
  makeServingPair,
  signerOf,
} from '../../src/certificates/authority.js';
import { runCommand } from '../harness/command-run.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { HttpClient } from '../harness/http-client.js';
import { freePorts } from '../harness/ports.js';

const top = join(__dirname, '../..');
const run = promisify(execFile);

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'envtest-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The files that controller-runtime 0.15 to 0.25 writes before the start, with their modes. */
async function writeFiles() {
  const files = (names: Record<string, string>) => {
    for (const [name, text] of Object.entries(names)) writeFileSync(join(root, name), text, { mode: 0o640 });
  };
  const now = Date.now();
  const [servingKey, clientKey, accountKey] = [makeKey(), makeKey(), makeKey()];
  const servingCa = await makeAuthority(servingKey, now);
  const clientCa = await makeAuthority(clientKey, now);
  const pair = await makeServingPair(
    signerOf(servingCa, servingKey),
    { dns: ['localhost'], ip: ['127.0.0.1'], refused: [] },
    now,
  );
  files({
    'apiserver.crt': pair.certificate,
    'apiserver.key': pair.key,
    // The public key of service accounts is in a certificate.
    'sa-signer.crt': await makeAuthority(accountKey, now),
    'sa-signer.key': keyPem(accountKey),
    'client-cert-auth-ca.crt': clientCa,
  });
  const user = (commonName: string, organizations: string[]) =>
    makeClientPair(signerOf(clientCa, clientKey), { commonName, organizations }, now);
  return { ca: servingCa, admin: await user('default', ['system:masters']), guest: await user('jane', ['guests']) };
}

/** Its arguments, in its order; the same in versions 0.15 to 0.25. */
const argumentsOf = (etcd: string, port: number) => [
  '--allow-privileged=true',
  '--authorization-mode=RBAC',
  '--bind-address=127.0.0.1',
  `--cert-dir=${root}`,
  `--client-ca-file=${root}/client-cert-auth-ca.crt`,
  '--disable-admission-plugins=ServiceAccount',
  `--etcd-servers=${etcd}`,
  `--secure-port=${port}`,
  `--service-account-issuer=https://127.0.0.1:${port}/`,
  `--service-account-key-file=${root}/sa-signer.crt`,
  `--service-account-signing-key-file=${root}/sa-signer.key`,
  '--service-cluster-ip-range=10.0.0.0/24',
];

test('--help exits with 0 and names no --insecure-port, which envtest would then pass', () => {
  const { status, stdout } = spawnSync(process.execPath, [join(top, 'bin/kube-apiserver'), '--help'], {
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  expect(stdout).toMatch(/^\s*--secure-port\b/m);
  expect(stdout).not.toMatch(/^\s*--insecure-port\b/m);
});

describeWithEtcd('bin/kube-apiserver as envtest starts it', () => {
  let etcd: EtcdCluster;
  beforeAll(async () => {
    etcd = await EtcdCluster.start();
  });
  afterAll(() => etcd.stop());

  it.each([
    { name: 'by default', further: [], emptied: true },
    { name: 'with --controllers=-*', further: ['--controllers=-*'], emptied: false },
  ])("serves with envtest's files and does not change them, $name", async ({ further, emptied }) => {
    const { ca, admin, guest } = await writeFiles();
    const names = ['apiserver.crt', 'apiserver.key', 'sa-signer.crt', 'sa-signer.key', 'client-cert-auth-ca.crt'];
    const contents = () => names.map((name) => readFileSync(join(root, name), 'utf8'));
    const before = contents();
    const [port] = await freePorts(1);
    const words = [...argumentsOf(etcd.storeOptions.servers[0]!, port!), ...further];
    const server = await runCommand({ program: 'kube-apiserver', cwd: root, words });
    expect([server.code, server.stderr]).toEqual([undefined, expect.not.stringContaining('"level":50')]);
    const url = `https://127.0.0.1:${port}`;
    const client = new HttpClient({ url, ca, ...admin });
    const jane = new HttpClient({ url, ca, ...guest });
    expect((await client.get('/healthz')).text).toBe('ok');
    expect((await client.get('/api/v1/namespaces/default')).code).toBe(200);
    expect((await jane.get('/api/v1/secrets')).code).toBe(403);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } };
    expect((await client.post('/api/v1/namespaces', namespace)).code).toBe(201);
    await client.delete('/api/v1/namespaces/a');
    let code = 200;
    for (let i = 0; i < 40 && code === 200; i++) {
      ({ code } = await client.get('/api/v1/namespaces/a'));
      await new Promise((resolve) => setTimeout(resolve, emptied ? 250 : 25));
    }
    expect(code).toBe(emptied ? 404 : 200);
    client.close();
    jane.close();
    expect(await server.stop()).toBe(0);
    expect(contents()).toEqual(before);
  });
});

const go = spawnSync('go', ['version'], { encoding: 'utf8' }).stdout?.trim();
const kubectl = findKubectls(top)[0]?.path;
const missing = [!go && 'go', !findEtcd() && 'etcd', !kubectl && 'kubectl'].filter(Boolean).join(' and ');

describe("controller-runtime's envtest", () => {
  if (missing !== '') {
    process.stderr.write(`skipped: controller-runtime's envtest: ${missing} not found\n`);
    it.skip(`runs the operator of examples/go-operator (${missing} not found)`, () => undefined);
    return;
  }
  it('runs the operator of examples/go-operator', async () => {
    const assets = join(root, 'assets');
    cpSync(join(top, 'examples/go-operator'), join(root, 'operator'), { recursive: true });
    spawnSync('mkdir', [assets]);
    writeFileSync(
      join(assets, 'kube-apiserver'),
      `#!/bin/sh\nexec ${process.execPath} ${join(top, 'bin/kube-apiserver')} "$@"\n`,
    );
    chmodSync(join(assets, 'kube-apiserver'), 0o755);
    symlinkSync(findEtcd()!, join(assets, 'etcd'));
    symlinkSync(kubectl!, join(assets, 'kubectl'));
    const options = { cwd: join(root, 'operator'), env: { ...process.env, KUBEBUILDER_ASSETS: assets } };
    const fetched = await run('go', ['mod', 'download'], options).then(
      () => true,
      (error: Error) => {
        process.stderr.write(
          `skipped: controller-runtime's envtest: its Go modules could not be had: ${error.message}\n`,
        );
        return false;
      },
    );
    if (!fetched) return;
    const { stdout } = await run('go', ['test', '-count=1', '-v', './...'], { ...options, maxBuffer: 1e8 });
    expect(stdout).toMatch(/^--- PASS: TestOperator /m);
    expect(stdout).toMatch(/^--- PASS: TestWithoutControllers /m);
  }, 1_500_000);
});

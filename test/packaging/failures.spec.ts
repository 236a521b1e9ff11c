import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAuthority, makeClientPair, makeKey, makeServingPair, signerOf } from '../../src/certificates/authority.js';
import { servingNames } from '../../src/certificates/serving-names.js';
import { packageRoot } from '../../src/config/config-files.js';
import { ManualClock } from '../../src/std/clock.js';
import { runCommand } from '../harness/command-run.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';
import { findProgram, packagingPath, runTool } from '../harness/packaging.js';
import { ServerProcess } from '../harness/server-process.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

// Failures of docs/operations.md: each symptom is caused, and its remedy applied.

const page = readFileSync(join(packageRoot, 'docs/operations.md'), 'utf8').replace(/\s+/g, ' ');
const configMaps = '/api/v1/namespaces/default/configmaps';
const dayMs = 86_400_000;

let folder: string;
let server: TestServer | undefined;
const started: ServerProcess[] = [];
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'keelson-failures-'))));
afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.kill()));
  await server?.stop();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const serve = async (directory: string, flags: readonly string[] = []) => {
  const one = await ServerProcess.start(join(folder, directory), ['--storage-backend=embedded', ...flags]);
  started.push(one);
  return one;
};

/** The last line of a start that fails, which the page has to quote in part. */
async function failedStart(words: readonly string[], quoted: string): Promise<string> {
  const run = await runCommand({ cwd: folder, words: ['serve', '--secure-port=0', ...words] });
  expect([run.code, page.includes(`\`${quoted}`)]).toEqual([1, true]);
  const line = run.stderr.trimEnd().split('\n').at(-1)!;
  expect(line).toContain('the server did not start: ');
  expect(line).toContain(quoted);
  return line;
}

test('a webhook that blocks every write is removed by deleting its configuration', async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  const { admin } = server;
  const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const webhook = {
    name: 'all.example.com',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    clientConfig: { url: 'https://127.0.0.1:9/' },
    rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
  };
  await admin.post(configurations, { metadata: { name: 'blocker' }, webhooks: [webhook] });
  let last = '';
  await eventually('writes are refused', async () => {
    const { code, body } = await admin.post(`${configMaps}?dryRun=All`, { metadata: { name: 'a' } });
    last = `${code} ${body.message}`;
    return code === 500;
  });
  expect(last).toContain('failed calling webhook "all.example.com"');
  expect((await admin.delete(`${configurations}/blocker`)).code).toBe(200);
  await eventually('writes are accepted again', async () => {
    const { code } = await admin.post(configMaps, { metadata: { name: 'a' } });
    return code === 201;
  });
});

test('a runaway client gets a level with one seat, and is refused without its binding', async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  const { admin } = server;
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'noisy' }];
  await admin.post(bindings, { metadata: { name: 'noisy' }, roleRef, subjects });
  const asNoisy = () => admin.get(configMaps, { 'impersonate-user': 'noisy' });
  await eventually('it may read', async () => (await asNoisy()).code === 200);

  const flow = '/apis/flowcontrol.apiserver.k8s.io/v1';
  const limited = { nominalConcurrencyShares: 0, lendablePercent: 0, limitResponse: { type: 'Reject' } };
  const level = await admin.post(`${flow}/prioritylevelconfigurations`, {
    metadata: { name: 'runaway' },
    spec: { type: 'Limited', limited },
  });
  const rules = [
    {
      subjects: [{ kind: 'User', user: { name: 'noisy' } }],
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
    },
  ];
  const schema = await admin.post(`${flow}/flowschemas`, {
    metadata: { name: 'runaway' },
    spec: { priorityLevelConfiguration: { name: 'runaway' }, matchingPrecedence: 10, rules },
  });
  expect([level.code, schema.code]).toEqual([201, 201]);
  await eventually('its requests have their own level', async () => {
    const { headers } = await asNoisy();
    return headers['x-kubernetes-pf-flowschema-uid'] === schema.body.metadata.uid;
  });
  await admin.delete(`${bindings}/noisy`);
  await eventually('it is refused', async () => (await asNoisy()).code === 403);
});

test('a lost kubeconfig and certificate of the administrator are written again by a restart', async () => {
  const one = await serve('data');
  await one.stop();
  for (const name of ['kubeconfig', 'pki/admin.crt', 'pki/admin.key']) rmSync(join(folder, 'data', name));
  await one.start();
  const { url, ca, client } = one.access;
  const admin = new HttpClient({ url, ca, ...client });
  expect((await admin.get('/api/v1/secrets')).code).toBe(200);
  admin.close();
});

test('a store in use, cut off or without its header is refused with a line of the page, and not changed', async () => {
  const one = await serve('data');
  await failedStart([`--data-dir=${one.directory}`], 'is in use by the process with pid');
  await one.stop();
  cpSync(one.directory, join(folder, 'broken'), { recursive: true });
  const file = join(folder, 'broken/store/data.mdb');
  writeFileSync(file, Buffer.alloc(65_536));
  const words = ['--data-dir=broken', `--kubeconfig-out=${join(folder, 'kubeconfig')}`];
  await failedStart(words, 'is not a data file of this server, or is damaged');
  truncateSync(file, 5_000);
  await failedStart(words, 'is not a data file of this server, or is damaged');
  await one.start();
});

const openssl = findProgram('openssl', 'renewal of certificates by make-certificates.sh');
const testWithOpenssl = openssl === undefined ? test.skip : test;
testWithOpenssl(
  'an expired serving certificate ends the start, and the script renews it, also while the server runs',
  async () => {
    const script = packagingPath('make-certificates.sh');
    await runTool(script, ['files', '127.0.0.1'], folder);
    const pki = join(folder, 'files/pki');
    const pem = (name: string) => readFileSync(join(pki, name), 'utf8');
    const renew = () => runTool('env', ['RENEW=1', script, 'files', '127.0.0.1'], folder);
    const key = makeKey();
    const expired = await makeServingPair(
      signerOf(await makeAuthority(key, Date.now() - 800 * dayMs), key),
      servingNames({}),
      Date.now() - 700 * dayMs,
    );
    writeFileSync(join(pki, 'apiserver.crt'), expired.certificate);
    writeFileSync(join(pki, 'apiserver.key'), expired.key);
    const line = await failedStart(
      ['--storage-backend=memory', `--cert-dir=${pki}`, '--kubeconfig-out=k'],
      'expired at',
    );
    expect(line).toContain('and was not generated by this server');

    await renew();
    const one = await serve('data', [`--cert-dir=${pki}`]);
    const reloaded = '"msg":"reloaded changed certificate files"';
    expect([one.output.includes(reloaded), page.includes(`\`${reloaded}\``)]).toEqual([false, true]);
    const before = pem('apiserver.crt');
    await renew();
    expect(pem('apiserver.crt')).not.toBe(before);
    await eventually('the renewed certificate is used', () => one.output.includes(reloaded));
    const admin = new HttpClient({
      url: one.access.url,
      ca: pem('ca.crt'),
      certificate: pem('admin.crt'),
      key: pem('admin.key'),
    });
    expect((await admin.get('/api/v1/secrets')).code).toBe(200);
    admin.close();
  },
);

test('a server whose clock is an hour behind refuses certificates that were just issued, until it is right', async () => {
  const key = makeKey();
  const ca = await makeAuthority(key, Date.now() - dayMs);
  writeFileSync(join(folder, 'ca.crt'), ca);
  const subject = { commonName: 'new', organizations: ['system:masters'] };
  const { certificate, key: clientKey } = await makeClientPair(signerOf(ca, key), subject, Date.now());
  const clock = new ManualClock(Date.now() - 3_600_000);
  const config = { authentication: { clientCaFile: join(folder, 'ca.crt') } };
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { clock, config });
  const codeOfNew = async () => {
    const client = new HttpClient({ url: server!.url, ca: server!.keelson.ca, certificate, key: clientKey });
    const { code } = await client.get('/api/v1/secrets');
    client.close();
    return code;
  };
  expect(await codeOfNew()).toBe(401);
  clock.advance(3_600_000);
  expect(await codeOfNew()).toBe(200);
});

test('a start with an unknown flag exits with 1 and one line that names the next flag', async () => {
  const run = await runCommand({ cwd: folder, words: ['serve', '--secure-prot=0'] });
  expect(run.code).toBe(1);
  expect(run.stderr).toContain('--secure-port');
  expect(existsSync(join(folder, '.keelson'))).toBe(false);
});

import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { packageRoot } from '../../src/config/config-files.js';
import { makeEtcdCertificates, type EtcdCertificates } from '../harness/etcd-certificates.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';
import { startProgram } from '../harness/started-program.js';

// The built agent as a process, whose files are replaced while it serves.

const directory = mkdtempSync(join(tmpdir(), 'keelson-agent-reload-'));
const live = (name: string) => join(directory, name);
const clients: HttpClient[] = [];
let sets: readonly [EtcdCertificates, EtcdCertificates];
/** Its server certificate is installed. */
let serving: EtcdCertificates;
let agent: Awaited<ReturnType<typeof startProgram>>;

/** Replaces files of the agent as a renewal does: each at once, the key first. */
function install(set: EtcdCertificates, names: readonly ('tls.key' | 'tls.crt' | 'ca.crt')[]): void {
  if (names.includes('tls.crt')) serving = set;
  const sources = { 'tls.key': set.serverKeyFile, 'tls.crt': set.serverCertFile, 'ca.crt': set.caFile };
  for (const name of names) {
    copyFileSync(sources[name], live('new'));
    renameSync(live('new'), live(name));
  }
}

beforeAll(async () => {
  for (const name of ['one', 'two']) mkdirSync(live(name));
  sets = [
    await makeEtcdCertificates(live('one'), ['127.0.0.1'], 'one'),
    await makeEtcdCertificates(live('two'), ['127.0.0.1'], 'two'),
  ];
  install(sets[0], ['tls.key', 'tls.crt', 'ca.crt']);
  agent = await startProgram(
    process.execPath,
    [
      ...[join(packageRoot, 'bin/keelson'), 'agent', '--address=127.0.0.1', '--port=0', '--healthz-port=0'],
      ...[`--root-dir=${directory}`, '--container-runtime-endpoint=none', '--anonymous-auth=false'],
      ...[`--tls-cert-file=${live('tls.crt')}`, `--tls-private-key-file=${live('tls.key')}`],
      `--client-ca-file=${live('ca.crt')}`,
    ],
    { cwd: directory },
  );
});
afterAll(async () => {
  for (const client of clients) client.close();
  await agent.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Resolves when the agent logs that it cannot use the file. */
const refusedFile = (name: string) =>
  eventually(`the agent refuses ${name}`, () => {
    const lines = agent.output().split('\n');
    return lines.some((line) => line.includes(live(name)) && line.includes('the old contents stay in use'));
  });

const leafOf = ({ serverCertFile }: EtcdCertificates) =>
  new X509Certificate(readFileSync(serverCertFile)).fingerprint256;

/** The certificate that new connections get. */
async function served(): Promise<string> {
  const { hostname, port } = new URL(agent.url);
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

/** A client with the client certificate of a set, which trusts the server certificate that is installed. */
function clientOf(set: EtcdCertificates, protocol: 'http/1.1' | 'h2'): HttpClient {
  const ca = readFileSync(serving.caFile, 'utf8');
  const [certificate, key] = [set.clientCertFile, set.clientKeyFile].map((file) => readFileSync(file, 'utf8'));
  const client = new HttpClient({ url: agent.url, ca, protocol, certificate, key });
  clients.push(client);
  return client;
}

it('a replaced serving certificate is used for new connections, and open ones are served on', async () => {
  const open = (['http/1.1', 'h2'] as const).map((protocol) => clientOf(sets[0], protocol));
  for (const client of open) expect((await client.get('/healthz')).code).toBe(200);
  expect(await served()).toBe(leafOf(sets[0]));
  install(sets[1], ['tls.key', 'tls.crt']);
  await eventually('the second certificate is served', async () => (await served()) === leafOf(sets[1]));
  for (const client of open) expect((await client.get('/healthz')).code).toBe(200);
});

it('a replaced --client-ca-file refuses the clients of the old CA at once, on open connections too', async () => {
  const open = (['http/1.1', 'h2'] as const).map((protocol) => clientOf(sets[0], protocol));
  for (const client of open) expect((await client.get('/healthz')).code).toBe(200);
  expect((await clientOf(sets[1], 'h2').get('/healthz')).code).toBe(401);
  install(sets[1], ['ca.crt']);
  for (const client of open) {
    await eventually('the old client is refused', async () => (await client.get('/healthz')).code === 401);
  }
  for (const protocol of ['http/1.1', 'h2'] as const) {
    expect((await clientOf(sets[1], protocol).get('/healthz')).code).toBe(200);
    expect((await clientOf(sets[0], protocol).get('/healthz')).code).toBe(401);
  }
});

it('files that are half-written or empty are logged, and the last certificates are kept', async () => {
  const before = await served();
  writeFileSync(live('tls.crt'), 'half a certifi');
  rmSync(live('ca.crt'));
  writeFileSync(live('ca.crt'), '');
  for (const name of ['tls.crt', 'ca.crt']) await refusedFile(name);
  expect(await served()).toBe(before);
  expect((await clientOf(sets[1], 'h2').get('/healthz')).code).toBe(200);
  expect((await clientOf(sets[0], 'h2').get('/healthz')).code).toBe(401);
});

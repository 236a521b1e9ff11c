import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openKubeconfigClient, type KubeconfigClient } from '../../src/client.js';
import { RecordingFile } from '../../src/recording/recording-file.js';
import { startRecordingProxy } from '../../src/recording/recording-proxy.js';
import { replay, type Difference } from '../../src/recording/replay.js';
import { systemClock } from '../../src/std/clock.js';
import { startKeelson, type TestKeelson } from '../../src/testing.js';
import { boatDefinition } from '../harness/boat-definition.js';
import { runCommand } from '../harness/command-run.js';

const top = join(__dirname, '../..');
const maps = '/api/v1/namespaces/demo/configmaps';
const boats = '/apis/example.com/v1/namespaces/demo/boats';
const crd = (colour: string) => {
  const spec = `{ type: object, default: {}, properties: { colour: { type: string, default: ${colour} } } }`;
  return boatDefinition(`{ type: object, properties: { spec: ${spec} } }`);
};

let directory: string;
let path: string;
const servers: TestKeelson[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keelson-record-'));
  path = join(directory, 'run.jsonl');
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  rmSync(directory, { recursive: true });
});

const start = async (colour = 'red') => {
  // Reconcilers write at times of their own: their objects would be in the lists of a recording, or not.
  const controllers = ['*', '-serviceaccount-controller', '-root-ca-certificate-publisher-controller'];
  const server = await startKeelson({ crds: [crd(colour)], config: { reconcilers: { controllers } } });
  servers.push(server);
  return server;
};

async function record(run: (api: KubeconfigClient, proxyUrl: string) => Promise<void>): Promise<string> {
  const server = await start();
  const file = await RecordingFile.create(path);
  const proxy = await startRecordingProxy(server.api, file, { clock: systemClock });
  const api = await openKubeconfigClient({ text: proxy.kubeconfig });
  await run(api, /https:\/\/[\d.:]+/.exec(proxy.kubeconfig)![0]);
  api.close();
  await proxy.stop();
  await file.close();
  return readFileSync(path, 'utf8');
}

async function differences(server: TestKeelson, ignored: readonly string[] = [], eventsMsMax = 60_000) {
  const found: Difference[] = [];
  const onDifference = (difference: Difference) => void found.push(difference);
  const counts = await replay(path, server.api, { ignored, eventsMsMax, clock: systemClock, onDifference });
  return { found, counts };
}

/** Requests whose answers have uids, resourceVersions, generated names, addresses, errors, pages and events. */
async function story(api: KubeconfigClient): Promise<void> {
  await api.create('/api/v1/namespaces', { metadata: { name: 'demo' } });
  const { metadata: list } = await api.list(maps);
  const events = api.watch(maps, { query: { resourceVersion: list.resourceVersion } });
  const created = await api.create(maps, { metadata: { generateName: 'gen-' }, data: { a: '1' } });
  const { name, uid, resourceVersion } = created.metadata;
  await api.patch(`${maps}/${name}`, { data: { a: '2' }, metadata: { resourceVersion } });
  await expect(api.patch(`${maps}/${name}`, { metadata: { resourceVersion } })).rejects.toMatchObject({ status: 409 });
  const applied = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'applied' },
    data: { ref: `${name} ${uid}` },
  };
  await api.patch(`${maps}/applied`, applied, { type: 'apply', query: { fieldManager: 'story' } });
  const page = await api.list(maps, { query: { limit: 1 } });
  await api.list(maps, { query: { limit: 1, continue: page.metadata.continue } });
  const service = { metadata: { name: 'svc' }, spec: { ports: [{ port: 80 }], type: 'NodePort' } };
  await api.create('/api/v1/namespaces/demo/services', service);
  const secret = { metadata: { name: 's' }, data: { password: Buffer.from('hunter2').toString('base64') } };
  await api.create('/api/v1/namespaces/demo/secrets', secret);
  await api.get('/api/v1/namespaces/demo/secrets/s');
  await api.create('/api/v1/namespaces/demo/serviceaccounts', { metadata: { name: 'bot' } });
  const { status } = await api.create<{ status: { token: string } }>(
    '/api/v1/namespaces/demo/serviceaccounts/bot/token',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  );
  await api.create('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: status.token } });
  await api.create(boats, { apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name: 'a' } });
  await api.delete(`${maps}/${name}`, {}, { preconditions: { uid } });
  const types: string[] = [];
  for await (const { type } of events) if (types.push(type) === 4) break;
  expect(types).toEqual(['ADDED', 'MODIFIED', 'ADDED', 'DELETED']);
}

describe('a recording', () => {
  it('of the same version replays without a difference, and has no confidential values', async () => {
    const text = await record(story);
    for (const hidden of ['hunter2', Buffer.from('hunter2').toString('base64'), 'eyJhbGci', 'BEGIN ']) {
      expect(text).not.toContain(hidden);
    }
    const { found, counts } = await differences(await start());
    expect(found).toEqual([]);
    expect(counts).toMatchObject({ requests: 16, events: 4, differing: 0 });
    expect([...counts.skipped]).toEqual([['a token or a certificate was hidden', 1]]);
  });

  it('replays on a server that behaves otherwise with exactly that difference', async () => {
    await record(story);
    const other = await start('blue');
    const { found } = await differences(other);
    expect(found).toEqual([
      { line: expect.any(Number), subject: `POST ${boats}`, differences: ['replace /spec/colour: "red", now "blue"'] },
    ]);
  });

  it('lists events that do not come', async () => {
    const text = await record(async (api) => {
      const path = '/api/v1/namespaces/default/configmaps';
      const { metadata } = await api.list(path);
      const watch = api.watch(path, { query: { resourceVersion: metadata.resourceVersion } });
      await api.create(path, { metadata: { name: 'a' } });
      for await (const { object } of watch) if (object.metadata.name === 'a') break;
    });
    // A watch of another namespace, where nothing happens.
    writeFileSync(path, text.replace('default/configmaps?', 'kube-public/configmaps?'));
    const { found, counts } = await differences(await start(), [], 500);
    expect(found.map((one) => one.differences)).toEqual([['1 event did not come']]);
    expect(counts.events).toBe(0);
  });
});

describe('the recording proxy', () => {
  it('refuses clients without its certificate, upgrades, and requests that are too large', async () => {
    await record(async (api, url) => {
      const outcome = await new Promise((resolve) =>
        httpsRequest(`${url}/version`, { rejectUnauthorized: false }, resolve).on('error', resolve).end(),
      );
      expect(outcome).toHaveProperty('code');
      const headers = { connection: 'Upgrade', upgrade: 'websocket' };
      const path = '/api/v1/namespaces/default/pods/a/exec';
      expect((await api.request({ method: 'GET', path, headers })).status).toBe(501);
      const body = Buffer.alloc(17 * 1024 * 1024, ' ');
      expect((await api.request({ method: 'POST', path: maps, body })).status).toBe(413);
    });
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(1);
  });

  it('passes on parts of an answer that is not recorded when they come', async () => {
    await record(async (api) => {
      const list = '/api/v1/namespaces/default/configmaps';
      const { metadata } = await api.list(list);
      const accept = 'application/vnd.kubernetes.protobuf;stream=watch';
      const watch = `${list}?watch=1&resourceVersion=${metadata.resourceVersion}`;
      const answer = await api.open({ method: 'GET', path: watch, headers: { accept } });
      await api.create(list, { metadata: { name: 'first' } });
      const [chunk] = (await once(answer.message, 'data')) as [Buffer];
      expect(chunk.toString('latin1')).toContain('first');
      answer.end();
    });
    expect(readFileSync(path, 'utf8')).toContain('"omitted":"a watch as application/vnd.kubernetes.protobuf');
  });

  it('records the status of requests that are not readable, and skips them in a replay', async () => {
    await record(async (api) => {
      const headers = { 'Content-Type': 'application/json' };
      expect((await api.request({ method: 'POST', path: maps, headers, body: '{"a":' })).status).toBe(400);
    });
    const { counts } = await differences(await start());
    expect([...counts.skipped.keys()]).toEqual(['not readable as application/json']);
  });
});

describe('keelson record and keelson replay', () => {
  const client = pathToFileURL(join(top, 'dist/src/client.js')).href;
  const script = `import { openKubeconfigClient } from ${JSON.stringify(client)};
    const api = await openKubeconfigClient();
    await api.create('/api/v1/namespaces/default/configmaps', { metadata: { generateName: 'm-' } });
    process.exit(7);`;
  const run = (...words: string[]) => runCommand({ cwd: directory, words });
  const keelson = [process.execPath, join(top, 'bin/keelson')];

  it('end with the code of the program, with 0 without and with 1 with differences', async () => {
    const program = [process.execPath, '--input-type=module', '-e', script];
    const recorded = await run(...['test', '--no-report', '--', ...keelson, 'record', '-o', path, '--', ...program]);
    expect([recorded.code, recorded.stderr]).toEqual([7, expect.stringContaining('1 requests are in ')]);
    const server = await start();
    const kubeconfig = ['--kubeconfig', await server.kubeconfigFile()];
    const same = await run('replay', path, ...kubeconfig);
    expect([same.code, same.stdout, same.stderr]).toEqual([0, '', expect.stringContaining('no answer differs')]);
    writeFileSync(path, readFileSync(path, 'utf8').replace('"status":201', '"status":200'));
    const other = await run('replay', path, ...kubeconfig);
    expect([other.code, other.stdout]).toEqual([
      1,
      expect.stringMatching(/^line 2: POST .*\n {2}status: 200, now 201\n$/),
    ]);
  });

  it('end with 125 and 2 after errors, which they name', async () => {
    writeFileSync(path, 'precious');
    const kubeconfig = ['--kubeconfig', await (await start()).kubeconfigFile()];
    const refused = await run('record', '-o', path, ...kubeconfig, '--', 'true');
    expect([refused.code, refused.stderr]).toEqual([125, expect.stringContaining('is not a recording')]);
    expect(readFileSync(path, 'utf8')).toBe('precious');
    const wrong = await run('replay', path, ...kubeconfig);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('incomplete')]);
    const usage = await run('replay');
    expect([usage.code, usage.stderr]).toEqual([2, expect.stringContaining('give one recording')]);
    const unknown = await run('record', '-o', join(directory, 'new'), ...kubeconfig, '--', 'no-such-program');
    expect([unknown.code, unknown.stderr]).toEqual([127, expect.stringContaining('cannot run no-such-program')]);
  });
});

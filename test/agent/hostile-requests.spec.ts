import fc from 'fast-check';
import { connect as connectTls } from 'node:tls';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { startTestAgent, type TestAgent } from '../harness/agents.js';
import { CriRuntimeProcess } from '../harness/cri-runtime.js';

const runtime = new CriRuntimeProcess();
const secret = 'the-secret-outside';
const logDirectory = join(runtime.directory, 'log');
let agent: TestAgent;

beforeAll(async () => {
  mkdirSync(join(logDirectory, 'sub'), { recursive: true });
  writeFileSync(join(runtime.directory, 'secret'), secret);
  writeFileSync(join(logDirectory, 'sub/a.log'), 'a line\n');
  symlinkSync('../..', join(logDirectory, 'sub/up'));
  await runtime.start({
    pods: [{ namespace: 'default', name: 'web-1', uid: 'uid-1', containers: [{ name: 'app' }] }],
  });
  agent = await startTestAgent([
    `--container-runtime-endpoint=${runtime.endpoint}`,
    `--log-dir=${logDirectory}`,
    '--feature-gates=ContainerCheckpoint=true',
  ]);
});
afterAll(async () => {
  await agent.stop();
  await runtime.stop();
});

/** Sends bytes on a connection of its own, and resolves with the answer; with '' if it is reset while bytes are sent. */
async function raw(bytes: string): Promise<string> {
  const { hostname, port } = new URL(agent.url);
  const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  socket.on('error', () => undefined);
  socket.write(Buffer.from(bytes, 'latin1'));
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

const steps = fc.constantFrom(
  ...['..', '.', '', '%2e%2e', '..%2f', '%2f', '%5c', '..%5c', '%00', '%', '%zz', '%c3%28', '\\', '~', '__proto__'],
  ...['sub', 'up', 'a.log', 'secret', 'logs', 'pods', 'metrics', 'default', 'web-1', 'app', 'constructor', '*', '#'],
);
const roots = fc.constantFrom(
  ...['logs', 'logs', 'logs', 'containerLogs', 'checkpoint', 'exec', 'attach', 'portForward', 'run', 'pods', 'stats'],
  ...['metrics', 'spec', 'configz', 'healthz', 'debug', '%6cogs', 'LOGS'],
);
const queries = fc.constantFrom(
  ...[
    '',
    '?',
    '?timeout=-9',
    '?timeout=1e9',
    '?tailLines=1e400',
    '?limitBytes=%',
    '?command=&input=1',
    '?port=%00',
    '?a=b=c&&',
  ],
);
const paths = fc
  .tuple(roots, fc.array(steps, { maxLength: 6 }), queries)
  .map(([root, rest, query]) => `/${[root, ...rest].join('/')}${query}`);
const methods = fc.constantFrom('GET', 'GET', 'GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'BREW');

it('no path leaves the directory of logs, and no malformed request is a 5xx', async () => {
  const clients = [agent.client(), agent.client({ protocol: 'h2' })];
  await fc.assert(
    fc.asyncProperty(paths, methods, fc.boolean(), async (path, method, isHttp2) => {
      // HTTP/1.1 is written by hand: a client would refuse some of the paths.
      const text = isHttp2
        ? await clients[1]!
            .request(method === 'BREW' ? 'GET' : method, path)
            .then(({ code, text: body }) => `${code} ${body}`)
        : await raw(`${method} ${path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n`).then((answer) =>
            answer.replace(/^HTTP\/1\.1 /, ''),
          );
      expect(text).not.toContain(secret);
      // A negative timeout of a checkpoint is the only one that the kubelet answers with 500.
      if (!/^\/checkpoint\/.*timeout=-9/.test(path) && !path.startsWith('/run/')) expect(text).toMatch(/^[1-4]\d\d /);
    }),
    { numRuns: 400 },
  );
  expect(await clients[0]!.get('/logs/sub/a.log')).toMatchObject({ code: 200, text: 'a line\n' });
});

it.each([
  ['a request line that is no HTTP', 'NONSENSE\r\n\r\n', /^HTTP\/1\.1 400 /],
  ['a path of 100 kB', `GET /logs/${'a'.repeat(100_000)} HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n`, / 414 /],
  ['2 MB of headers', `GET / HTTP/1.1\r\nHost: n\r\nA: ${'a'.repeat(2_000_000)}\r\n\r\n`, /^$| 431 /],
  ['two Host headers', 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n', / 400 /],
  ['an absolute URL', 'GET https://node/healthz HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n', / 200 /],
  ['CONNECT', 'CONNECT node:1 HTTP/1.1\r\nHost: n\r\n\r\n', / 405 /],
])('the agent answers %s', async (_name, bytes, answer) => {
  expect(await raw(bytes)).toMatch(answer);
  expect((await agent.client().get('/healthz')).code).toBe(200);
});

it('a body that nobody reads does not stop the agent', async () => {
  const body = Buffer.alloc(3 * 1024 * 1024, 'x');
  for (const protocol of ['http/1.1', 'h2'] as const) {
    const client = agent.client({ protocol });
    expect((await client.post('/checkpoint/default/none/app', body)).code).toBe(404);
    expect((await client.get('/healthz')).code).toBe(200);
  }
});

it('a runtime that hangs holds only the requests that need it, and only for their timeout', async () => {
  const impatient = await startTestAgent([
    `--container-runtime-endpoint=${runtime.endpoint}`,
    '--runtime-request-timeout=1s',
  ]);
  try {
    await runtime.set({ behaviour: { all: 'hang' } });
    const client = impatient.client({ protocol: 'h2' });
    const waiting = ['/pods', '/containerLogs/default/web-1/app', '/stats/summary'].map((path) => client.get(path));
    expect((await client.get('/healthz')).code).toBe(200);
    expect((await Promise.all(waiting)).map(({ code }) => code)).toEqual([500, 500, 200]);
    await runtime.set({ behaviour: {} });
    expect((await agent.client().get('/pods')).code).toBe(200);
  } finally {
    await runtime.set({ behaviour: {} });
    await impatient.stop();
  }
});

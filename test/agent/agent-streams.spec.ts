import { connect } from 'node:tls';
import { once } from 'node:events';
import { startTestAgent, type TestAgent } from '../harness/agents.js';
import { CriRuntimeProcess } from '../harness/cri-runtime.js';

const runtime = new CriRuntimeProcess();
let agent: TestAgent;

beforeAll(async () => {
  const containers = [{ name: 'app' }, { name: 'ended', state: 'exited' as const }];
  await runtime.start({ pods: [{ namespace: 'default', name: 'web-1', uid: 'uid-1', containers }] });
  agent = await startTestAgent([`--container-runtime-endpoint=${runtime.endpoint}`]);
});
afterAll(async () => {
  await agent.stop();
  await runtime.stop();
});
beforeEach(() => runtime.set({ behaviour: {}, streams: 'echo' }));

/** Asks for an upgrade and sends `sent`; resolves with everything up to `until`, or the end of the connection. */
async function upgrade(path: string, { method = 'POST', sent = '', until = '', headers = '' } = {}): Promise<string> {
  const { hostname, port } = new URL(agent.url);
  const socket = connect({
    host: hostname,
    port: Number(port),
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  });
  await once(socket, 'secureConnect');
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n` +
      `X-Stream-Protocol-Version: v5.channel.k8s.io\r\nAuthorization: Bearer secret\r\n${headers}\r\n${sent}`,
  );
  let text = '';
  try {
    for await (const chunk of socket) {
      text += (chunk as Buffer).toString();
      if (until !== '' && text.includes(until)) break;
    }
  } finally {
    socket.destroy();
  }
  return text;
}

const lastRequest = async (method: string) =>
  (await runtime.report()).requests.filter((request) => request['method'] === method).at(-1);

it.each([
  [
    '/exec/default/web-1/app?command=sh&command=-c&command=a%20b&input=1&output=1&error=1',
    'Exec',
    { cmd: ['sh', '-c', 'a b'], stdin: true, stdout: true, stderr: true },
  ],
  ['/exec/default/web-1/uid-1/app?command=ls&output=1&error=1&tty=1', 'Exec', { cmd: ['ls'], tty: true, stdout: true }],
  ['/attach/default/web-1/app?output=1', 'Attach', { stdout: true }],
  ['/portForward/default/web-1?port=80&port=443', 'PortForward', { port: [80, 443] }],
  ['/portForward/default/web-1/uid-1', 'PortForward', {}],
])('%s becomes a connection to the streaming server of the runtime', async (path, method, fields) => {
  const text = await upgrade(path, { sent: 'early bytes', until: 'early bytes' });
  expect(text).toMatch(/^HTTP\/1\.1 101 /);
  expect(text).toMatch(/\r\nUpgrade: SPDY\/3\.1\r\n/i);
  expect(text).toMatch(/\r\nX-Stream-Protocol-Version: v5\.channel\.k8s\.io\r\n/i);
  expect(text).toMatch(/\r\n\r\nhello early bytes$/);
  expect(await lastRequest(method)).toMatchObject(fields);
  expect(await lastRequest(method)).not.toMatchObject({ stderr: method === 'Exec' && path.includes('tty') });
  expect(await lastRequest('stream')).toMatchObject({ upgrade: 'SPDY/3.1' });
});

it.each([
  ['/exec/default/web-1/app?command=ls', 400, 'you must specify at least 1 of stdin, stdout, stderr'],
  ['/exec/default/web-2/app?output=1', 404, 'pod does not exist'],
  ['/exec/default/web-1/uid-2/app?output=1', 404, 'pod does not exist'],
  ['/exec/default/web-1/other?output=1', 404, 'container other does not exist'],
  ['/portForward/default/web-1?port=0', 400, 'invalid port "0"'],
  ['/portForward/default/web-2', 404, 'pod does not exist'],
])('the stream %s is answered with %d', async (path, code, text) => {
  const answer = await upgrade(path);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${code} `));
  expect(answer.endsWith(`\r\n\r\n${text}`)).toBe(true);
});

it.each(['http/1.1', 'h2'] as const)('a stream without an upgrade over %s is a 400', async (protocol) => {
  const answer = await agent.client({ protocol }).post('/exec/default/web-1/app?output=1', undefined);
  expect(answer).toMatchObject({ code: 400, text: 'Upgrade request required' });
});

it('an Upgrade header on another path is ignored', async () => {
  expect(await upgrade('/healthz', { method: 'GET', headers: 'Connection: close\r\n', until: 'ok' })).toMatch(
    / 200 OK\r/,
  );
});

it.each([
  ['refuse', /^HTTP\/1\.1 403 [^]*no$/],
  ['drop', /^HTTP\/1\.1 500 [^]*error dialing the runtime/],
] as const)('a streaming server that does %s is answered with its error', async (streams, answer) => {
  await runtime.set({ streams });
  expect(await upgrade('/exec/default/web-1/app?output=1')).toMatch(answer);
});

it('a runtime that returns no URL for a stream is a 500', async () => {
  await runtime.set({ behaviour: { Exec: 'error' } });
  expect(await upgrade('/exec/default/web-1/app?output=1')).toMatch(/^HTTP\/1\.1 500 [^]*the runtime failed$/);
});

it('/run returns the output of a command', async () => {
  const client = agent.client();
  const answer = await client.post('/run/default/web-1/app?cmd=echo%20a', undefined);
  expect(answer).toMatchObject({ code: 200, text: 'ran echo a\n' });
  expect((await client.post('/run/default/web-1/app?cmd=false', undefined)).code).toBe(500);
});

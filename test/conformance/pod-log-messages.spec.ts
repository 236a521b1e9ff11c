import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { eventually } from '../harness/eventually.js';
import { startKubelet, type TestKubelet } from '../harness/kubelet.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

// Logs in the messages of a WebSocket, and logs whose readers are slow.

const pods = '/api/v1/namespaces/default/pods';
let kubelet: TestKubelet;
let server: TestServer;

beforeAll(async () => {
  kubelet = await startKubelet();
  const { caFile, clientCertFile, clientKeyFile } = kubelet.certificates;
  const kubelets = { certificateAuthority: caFile, clientCertificate: clientCertFile, clientKey: clientKeyFile };
  server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    {
      config: {
        kubelets: { ...kubelets, preferredAddressTypes: ['InternalIP'] },
        featureGates: { PodLogsQuerySplitStreams: true },
      },
    },
  );
  await server.admin.post('/api/v1/nodes', { metadata: { name: 'node' } });
  const daemonEndpoints = { kubeletEndpoint: { Port: kubelet.port } };
  const status = { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints };
  expect((await server.admin.patch('/api/v1/nodes/node/status', { status })).code).toBe(200);
  const spec = { nodeName: 'node', containers: [{ name: 'c', image: 'i' }] };
  for (const [name, own] of Object.entries({ pod: spec, waiting: { containers: spec.containers } })) {
    expect((await server.admin.post(pods, { metadata: { name }, spec: own })).code).toBe(201);
  }
});
afterAll(async () => {
  kubelet.stop();
  await server.stop();
});
beforeEach(() => {
  kubelet.urls.length = 0;
  kubelet.handler = (_request, response) => response.end('line one\nline two\n');
});

interface Message {
  readonly text: string;
  readonly isBinary: boolean;
}

/** Rejects with the code and message of an answer that is no WebSocket. */
async function open(path: string, protocols: readonly string[], messages: Message[] = []): Promise<WebSocket> {
  const { certificate: cert, key } = server.keelson.client;
  const { ca, url } = server.keelson;
  const webSocket = new WebSocket(`${url.replace('https', 'wss')}${pods}/${path}`, protocols, { ca, cert, key });
  webSocket.on('error', () => undefined);
  // Before the answer arrives, since messages may come with it.
  webSocket.on('message', (data: Buffer, isBinary: boolean) => messages.push({ text: data.toString(), isBinary }));
  const refused = new Promise<never>((_, reject) =>
    webSocket.once('unexpected-response', (_request: unknown, response: IncomingMessage) => {
      void response.toArray().then((parts) => {
        const body = parts.length > 0 ? (JSON.parse(parts.join('')) as { message: string }).message : '';
        reject(new Error(`${response.statusCode} ${body}`));
      });
    }),
  );
  await Promise.race([once(webSocket, 'open'), refused]);
  return webSocket;
}

/** Opens a log and collects its messages. */
async function collected(path: string, protocols: readonly string[]) {
  const messages: Message[] = [];
  const webSocket = await open(path, protocols, messages);
  const closed = once(webSocket, 'close').then(([code]) => code as number);
  return { webSocket, messages, closed };
}

it.each<[string, readonly string[], string, boolean]>([
  ['no subprotocol', [], '', true],
  ['binary.k8s.io', ['binary.k8s.io'], 'binary.k8s.io', true],
  ['an unknown one first', ['x', 'binary.k8s.io'], 'binary.k8s.io', true],
  ['base64.binary.k8s.io', ['base64.binary.k8s.io'], 'base64.binary.k8s.io', false],
])('a log is sent in messages, with %s', async (_name, protocols, chosen, isBinary) => {
  kubelet.handler = (_request, response) => {
    response.write('line one\n');
    setTimeout(() => response.end('line é\n'), 50);
  };
  const { webSocket, messages, closed } = await collected('pod/log?follow=true&tailLines=5', protocols);
  expect(webSocket.protocol).toBe(chosen);
  webSocket.send(Buffer.from('ignored'));
  expect(await closed).toBe(1000);
  const decoded = messages.map(({ text }) => (isBinary ? text : Buffer.from(text, 'base64').toString()));
  expect(decoded.join('')).toBe('line one\nline é\n');
  expect(messages.every((message) => message.isBinary === isBinary)).toBe(true);
  expect(kubelet.urls).toEqual(['GET /containerLogs/default/pod/c?follow=true&stream=All&tailLines=5']);
});

it.each<[string, string, readonly string[], string]>([
  [
    'with an unknown subprotocol',
    'pod/log',
    ['v5.channel.k8s.io'],
    '403 requested protocol(s) are not supported: [v5.channel.k8s.io]; supports [ binary.k8s.io base64.binary.k8s.io]',
  ],
  ['of a Pod that is not scheduled', 'waiting/log', [], '204 '],
  ['of an unknown Pod', 'none/log', [], '404 pods "none" not found'],
  ['with a bad option', 'pod/log?tailLines=x', [], '400 strconv.ParseInt: parsing "x": invalid syntax'],
])('a log in messages %s is refused before the upgrade', async (_name, path, protocols, message) => {
  await expect(open(path, protocols)).rejects.toThrow(message);
  expect(kubelet.urls).toEqual([]);
});

it.each<[string, number, string]>([
  ['stream=Stderr&limitBytes=7', 200, 'limitBytes=7&stream=Stderr'],
  ['stream=All&tailLines=1', 200, 'stream=All&tailLines=1'],
  ['stream=Stdout&tailLines=1', 422, '`tailLines` and specific `stream` are mutually exclusive for now'],
  ['stream=Both', 422, 'stream: Unsupported value: "Both": supported values: "All", "Stderr", "Stdout"'],
])('with PodLogsQuerySplitStreams, a log with %s is answered with %i', async (query, code, want) => {
  const answer = await server.admin.get(`${pods}/pod/log?${query}`);
  expect(answer.code).toBe(code);
  if (code === 200) expect(kubelet.urls).toEqual([`GET /containerLogs/default/pod/c?${want}`]);
  else expect(answer.body.message).toContain(want);
});

it('an error of the kubelet is the answer instead of a WebSocket', async () => {
  kubelet.handler = (_request, response) => response.writeHead(400).end('container "c" is waiting to start');
  await expect(open('pod/log', [])).rejects.toThrow('400 container "c" is waiting to start');
});

it.each([
  ['another method', 'POST', ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='], 405],
  ['no key', 'GET', ['Sec-WebSocket-Version: 13'], 400],
  ['an old version', 'GET', ['Sec-WebSocket-Version: 8', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='], 400],
])('a malformed handshake (%s) is answered with a Status', async (_name, method, lines, code) => {
  const headers = Object.fromEntries(lines.map((line) => line.split(': ')));
  const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket', ...headers };
  for (const path of ['pod/log', 'pod/exec?command=a']) {
    if (path === 'pod/log' && method === 'POST') continue;
    const protocol = path === 'pod/log' ? {} : { 'Sec-WebSocket-Protocol': 'v5.channel.k8s.io' };
    const answer = await server.admin.request(method, `${pods}/${path}`, { headers: { ...upgrade, ...protocol } });
    expect([path, answer.code, answer.body?.kind]).toEqual([path, code, 'Status']);
  }
});

it('a log in messages that the kubelet drops does not look complete', async () => {
  kubelet.handler = (request, response) => {
    response.write('half');
    setTimeout(() => request.socket.destroy(), 50);
  };
  expect(await (await collected('pod/log', [])).closed).toBe(1011);
});

it('a client that leaves ends the log in messages at the kubelet', async () => {
  let left: Promise<unknown> | undefined;
  kubelet.handler = (_request, response) => {
    left = once(response, 'close');
    response.write('line\n');
  };
  const { webSocket } = await collected('pod/log?follow=true', []);
  webSocket.terminate();
  await left;
});

describe('a client that does not read a followed log stops the kubelet', () => {
  let written: number;
  beforeEach(() => {
    written = 0;
    const chunk = Buffer.alloc(64 * 1024, 'line\n');
    kubelet.handler = (_request, response) => {
      const write = () => {
        do written += chunk.length;
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', write);
      write();
    };
  });

  /** Waits until nothing is written for a while. */
  async function stops(): Promise<void> {
    let before = -1;
    await eventually('the kubelet stops writing', async () => {
      if (before === written) return true;
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return false;
    });
  }

  const bytesMax = 48 * 1024 * 1024;

  it.each(['http/1.1', 'h2'] as const)('over %s', async (protocol) => {
    const client = server.client({ ...server.keelson.client, protocol });
    const before = process.memoryUsage().arrayBuffers;
    const answer = await client.open('GET', `${pods}/pod/log?follow=true`);
    await stops();
    expect(written).toBeLessThan(bytesMax);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(bytesMax);
    expect((await server.admin.get('/livez')).code).toBe(200);
    answer.cancel();
    client.close();
  });

  it('over a WebSocket', async () => {
    const before = process.memoryUsage().arrayBuffers;
    const webSocket = await open('pod/log?follow=true', []);
    webSocket.pause();
    await stops();
    expect(written).toBeLessThan(bytesMax);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(bytesMax);
    webSocket.terminate();
  });
});

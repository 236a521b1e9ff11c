import { connect as connectTcp } from 'node:net';
import { once } from 'node:events';
import * as http2 from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import { ManualClock, type Clock } from '../../src/std/clock.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { heldDelay } from '../harness/held-delay.js';
import { HttpClient, type Protocol } from '../harness/http-client.js';

// A stopping server as its clients see it: the order of docs/bounds.md, "Stopping".

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function start(config: ConfigOverrides = {}, clock?: Clock): Promise<Keelson> {
  const keelson = await startKeelson({ config, ...(clock && { clock }) });
  undo.push(() => keelson.stop());
  return keelson;
}

function client(keelson: Keelson, protocol: Protocol = 'http/1.1'): HttpClient {
  const made = new HttpClient({ ...keelson, ...keelson.client, protocol });
  undo.push(() => made.close());
  return made;
}

async function isListening({ url }: Keelson): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connectTcp({ host: hostname, port: Number(port) });
  const result = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return result;
}

/** An unfinished HTTP/2 request: the rest of its body never arrives. */
async function openRequest({ url, ca, client: { certificate, key } }: Keelson) {
  const session = http2.connect(url, { ca, cert: certificate, key });
  session.on('error', () => undefined);
  undo.push(() => session.destroy());
  const stream = session.request({ ':method': 'POST', ':path': '/api/v1/namespaces/default/configmaps' });
  stream.on('error', () => undefined);
  stream.write('{');
  // Streams of a session arrive in order: when this one is answered, the server has received the one before.
  const probe = session.request({ ':path': '/livez' });
  probe.resume();
  await once(probe, 'close');
  return { session, stream };
}

async function until(is: () => Promise<boolean> | boolean): Promise<boolean> {
  const deadline = performance.now() + 100_000;
  while (!(await is()) && performance.now() < deadline) await sleep(10);
  return is();
}

const watchPath = '/api/v1/namespaces/default/secrets?watch=1&allowWatchBookmarks=1';

test('during the delay everything is served, also on new connections, while /readyz fails', async () => {
  const delay = heldDelay(123_456);
  const keelson = await start({ shutdownDelayMs: 123_456 }, delay.clock);
  const watch = await client(keelson).watch(watchPath);
  const first = watch.take(2);
  const stopped = keelson.stop();
  expect(await until(async () => (await client(keelson).get('/readyz')).code === 500)).toBe(true);
  expect((await client(keelson, 'h2').get('/api/v1/namespaces/default')).code).toBe(200);
  expect((await client(keelson).get('/livez')).code).toBe(200);
  const created = await client(keelson).post('/api/v1/namespaces/default/secrets', { metadata: { name: 'late' } });
  expect([created.code, created.headers.connection]).toEqual([201, 'keep-alive']);
  // After the bookmark that ends the initial events.
  expect((await first).at(-1)?.object.metadata.name).toBe('late');
  const rest = watch.rest();
  delay.release();
  await stopped;
  expect(await isListening(keelson)).toBe(false);
  expect((await rest).at(-1)?.type).toBe('BOOKMARK');
  expect(await watch.ended).toBe('complete');
});

test.each(['http/1.1', 'h2'] as const)('the port is closed while a request by %s is finished', async (protocol) => {
  const keelson = await start({ limits: { shutdownGraceMs: 100_000 } });
  const { hostname, port } = new URL(keelson.url);
  const body = JSON.stringify({ metadata: { name: `slow-${protocol.length}` } });
  const path = '/api/v1/namespaces/default/configmaps';
  const own = { ca: keelson.ca, cert: keelson.client.certificate, key: keelson.client.key };
  let text = '';
  let send: (part: string) => void;
  let ended: Promise<unknown>;
  if (protocol === 'h2') {
    const session = http2.connect(keelson.url, own);
    session.on('error', () => undefined);
    undo.push(() => session.destroy());
    await once(session, 'remoteSettings');
    const headers = { 'content-type': 'application/json', expect: '100-continue' };
    const stream = session.request({ ':method': 'POST', ':path': path, ...headers });
    stream.on('response', ({ ':status': status }) => (text += `code ${status}`));
    stream.resume();
    await once(stream, 'continue');
    send = (part) => (part === body.slice(5) ? stream.end(part) : stream.write(part));
    ended = Promise.all([once(stream, 'close'), once(session, 'goaway')]);
  } else {
    const socket = connectTls({ host: hostname, port: Number(port), ...own });
    undo.push(() => socket.destroy());
    socket.on('data', (chunk: Buffer) => (text += chunk.toString().replace('HTTP/1.1', 'code')));
    await once(socket, 'secureConnect');
    const head = [
      `POST ${path} HTTP/1.1`,
      'host: a',
      'content-type: application/json',
      `content-length: ${body.length}`,
      'expect: 100-continue',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    await once(socket, 'data');
    send = (part) => socket.write(part);
    ended = once(socket, 'close');
  }
  send(body.slice(0, 5));
  const stopped = keelson.stop();
  expect(await until(async () => !(await isListening(keelson)))).toBe(true);
  send(body.slice(5));
  await ended;
  expect(text).toContain('code 201');
  if (protocol === 'http/1.1') expect(text.toLowerCase()).toContain('connection: close');
  await stopped;
});

test.each(['http/1.1', 'h2'] as const)(
  'an idle connection by %s is closed without waiting for a timer',
  async (protocol) => {
    const clock = new ManualClock(Date.now());
    const keelson = await startKeelson({ clock });
    const idle = client(keelson, protocol);
    expect((await idle.get('/api/v1/namespaces')).code).toBe(200);
    // The time does not advance: a stop that waits for a timer never ends.
    await keelson.stop();
    expect(await isListening(keelson)).toBe(false);
  },
);

test('a request that does not end within the grace period is cut', async () => {
  const keelson = await start({ limits: { shutdownGraceMs: 300 } });
  const { session, stream } = await openRequest(keelson);
  const closed = once(session, 'close');
  const cut = once(stream, 'close');
  const begin = performance.now();
  await keelson.stop();
  await Promise.all([closed, cut]);
  expect(performance.now() - begin).toBeLessThan(50_000);
});

test.each(['http/1.1', 'h2'] as const)('watches by %s end cleanly, with a bookmark', async (protocol) => {
  const keelson = await start();
  const admin = client(keelson, protocol);
  const watches = await Promise.all(Array.from({ length: 5 }, () => admin.watch(watchPath)));
  const events = watches.map((watch) => watch.rest());
  await keelson.stop();
  for (const all of await Promise.all(events)) expect(all.at(-1)?.type).toBe('BOOKMARK');
  for (const { ended } of watches) expect(await ended).toBe('complete');
});

test('--shutdown-watch-termination-grace-period ends watches one after the other', async () => {
  const keelson = await start({ shutdownWatchGraceMs: 1_000 });
  const admin = client(keelson, 'h2');
  const watches = await Promise.all(Array.from({ length: 10 }, () => admin.watch(watchPath)));
  const begin = performance.now();
  const endedMs: number[] = [];
  for (const watch of watches) void watch.ended.then(() => endedMs.push(performance.now() - begin));
  const drained = watches.map((watch) => watch.rest());
  await keelson.stop();
  await Promise.all(drained);
  expect(await until(() => endedMs.length === 10)).toBe(true);
  expect(Math.max(...endedMs) - Math.min(...endedMs)).toBeGreaterThan(500);
});

test('--shutdown-send-retry-after answers 429 on an open port until the last request has ended', async () => {
  const keelson = await start({ shutdownSendsRetryAfter: true, limits: { shutdownGraceMs: 100_000 } });
  const { stream } = await openRequest(keelson);
  await client(keelson, 'h2').watch(watchPath);
  const stopped = keelson.stop();
  const refused = await client(keelson).get('/api');
  expect([refused.code, refused.headers['retry-after'], refused.headers.connection]).toEqual([429, '5', 'close']);
  expect((await client(keelson).get('/livez')).code).toBe(200);
  stream.close();
  await stopped;
  expect(await isListening(keelson)).toBe(false);
});

test('--goaway-chance asks HTTP/2 clients to reconnect; no request is lost', async () => {
  const keelson = await start({ serving: { goawayChance: 0.02 } });
  let goaways = 0;
  for (let round = 0; round < 40 && goaways === 0; round++) {
    const session = http2.connect(keelson.url, { ca: keelson.ca });
    session.on('error', () => undefined);
    session.on('goaway', () => goaways++);
    const codes = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const stream = session.request({ ':path': '/livez' });
        stream.on('error', () => undefined);
        stream.resume();
        const answered = Promise.race([once(stream, 'response'), once(stream, 'close')]).catch(() => []);
        const [headers] = (await answered) as [unknown];
        // Refused streams were not processed: a client may retry them.
        return (headers as Record<string, number> | undefined)?.[':status'] ?? 'again';
      }),
    );
    expect(codes.every((code) => code === 200 || code === 'again')).toBe(true);
    session.destroy();
  }
  expect(goaways).toBeGreaterThan(0);
});

import { shell, type Handler } from '../../test/harness/shell.js';
import { ManualClock } from '../std/clock.js';
import { silentLogger } from '../std/logger.js';
import { TimerWheel } from '../std/timer-wheel.js';
import { headersFor, sendBytes } from '../answers/answer.js';
import { registerDeadline } from './deadline.hook.js';

function server(handler: Handler) {
  const clock = new ManualClock();
  const app = shell(
    handler,
    (fastify) =>
      registerDeadline(fastify, {
        wheel: new TimerWheel(clock),
        requestTimeoutMs: 60_000,
        flushTimeoutMs: 5_000,
        logger: silentLogger,
      }),
    clock,
  );
  const get = (url: string) => app.inject({ method: 'GET', url });
  return { clock, get };
}

/** Handler that waits until its signal is aborted, and then answers although the deadline has answered. */
const endless: Handler = (request, reply) =>
  new Promise<void>((resolve, reject) => {
    request.kube.signal.addEventListener('abort', () => {
      sendBytes(request, reply, 200, headersFor(request, 'text/plain'), Buffer.from('late'));
      if (request.raw.url!.includes('throws')) reject(request.kube.signal.reason);
      else resolve();
    });
  });

it.each([
  ['/api/v1/pods', 60_000],
  ['/api/v1/pods?timeout=2s', 2_000],
  ['/api/v1/pods?timeout=2s&throws', 2_000],
  ['/api/v1/pods?timeout=0', 60_000],
  ['/api/v1/pods?timeout=3h', 60_000],
])('%s gets 504 after %i ms', async (url, timeoutMs) => {
  const { clock, get } = server(endless);
  let isDone = false;
  const answer = get(url).then((response) => {
    isDone = true;
    return response;
  });
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(timeoutMs - 100);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isDone).toBe(false);
  clock.advance(200);
  const { statusCode, body } = await answer;
  expect(statusCode).toBe(504);
  expect(JSON.parse(body)).toMatchObject({
    kind: 'Status',
    reason: 'Timeout',
    message: 'Timeout: request did not complete within the allotted timeout',
  });
});

it('does not end watches', async () => {
  const handler: Handler = (request, reply) =>
    new Promise<void>((resolve) => {
      clock.advance(3_600_000);
      sendBytes(request, reply, 200, headersFor(request, 'text/plain'), Buffer.from(String(request.kube.isExpired)));
      resolve();
    });
  const { clock, get } = server((request, reply) => handler(request, reply));
  expect((await get('/api/v1/pods?watch=1')).body).toBe('false');
});

it.each(['x', '5', '-1s'])('?timeout=%s is rejected (400)', async (timeout) => {
  const { get } = server(endless);
  const { statusCode, body } = await get(`/api/v1/pods?timeout=${timeout}`);
  expect([statusCode, JSON.parse(body).message]).toEqual([
    400,
    `invalid timeout specified in the request URL - time: invalid duration "${timeout}"`,
  ]);
});

it('a response that has begun at the deadline is sent whole if it ends soon', async () => {
  const { clock, get } = server(async (_request, reply) => {
    reply.raw.writeHead(200).write('wh');
    clock.advance(2_060);
    setImmediate(() => reply.raw.end('ole'));
  });
  const { statusCode, body } = await get('/api/v1/pods?timeout=2s');
  expect([statusCode, body]).toEqual([200, 'whole']);
});

it('a response that is not complete soon after the deadline is cut', async () => {
  const { clock, get } = server(async (_request, reply) => {
    reply.raw.writeHead(200).write('half');
    clock.advance(2_060);
    setImmediate(() => clock.advance(200));
  });
  await expect(get('/api/v1/pods?timeout=2s')).rejects.toThrow();
});

import { AuditServer } from '../../test/harness/audit.js';
import { eventOf, eventsOf, lossesFor } from '../../test/harness/audit-events.js';
import { ClientKubeconfigs } from '../../test/harness/client-kubeconfigs.js';
import { eventually } from '../../test/harness/eventually.js';
import { RetryClock } from '../../test/harness/retry-clock.js';
import { openKubeconfigClient } from '../kubeconfig-client/open-client.js';
import { WebhookSink } from './webhook-sink.js';

let server: AuditServer;
let files: ClientKubeconfigs;
const opened: WebhookSink[] = [];
beforeAll(() => (files = new ClientKubeconfigs()));
beforeEach(async () => (server = await AuditServer.start()));
afterEach(async () => {
  for (const sink of opened.splice(0)) await sink.close();
  await server.stop();
});
afterAll(() => files.remove());

async function makeSink() {
  const clock = new RetryClock(29_999);
  const client = await openKubeconfigClient({ file: files.kubeconfig(server, { token: 'of-the-server' }), clock });
  const { losses, logged, counts } = lossesFor(clock);
  const sink = new WebhookSink({
    ...{ client, clock, losses, initialBackoffMs: 1000 },
    apiVersion: 'audit.k8s.io/v1',
    rng: { below: () => 0, uuid: () => '' },
  });
  opened.push(sink);
  return { clock, sink, logged, counts };
}

it('events are posted as an EventList', async () => {
  const { sink } = await makeSink();
  const object = [Buffer.from('{"a":'), Buffer.from('1}')];
  expect(await sink.process([eventOf({ requestObject: object }), ...eventsOf('b')])).toBe(true);
  expect(server.reviews).toEqual([
    {
      kind: 'EventList',
      apiVersion: 'audit.k8s.io/v1',
      metadata: {},
      items: [
        expect.objectContaining({ auditID: 'id', requestObject: { a: 1 } }),
        expect.objectContaining({ auditID: 'b' }),
      ],
    },
  ]);
  const { method, url, headers } = server.requests[0]!;
  expect([method, url, headers['content-type'], headers.authorization]).toEqual([
    'POST',
    '/events?timeout=30s',
    'application/json',
    'Bearer of-the-server',
  ]);
});

it.each<[name: string, answer: AuditServer['answer']]>([
  ['500', (response) => response.writeHead(500).end('no')],
  ['404', (response) => response.writeHead(404).end()],
  ['a redirect', (response) => response.writeHead(302, { location: '/elsewhere' }).end()],
  ['nothing', (response) => response.destroy()],
])('a batch is repeated four times after %s, then lost and counted', async (_name, answer) => {
  const { sink, clock, counts, logged } = await makeSink();
  server.answer = answer;
  expect(await sink.process(eventsOf('a', 'b'))).toBe(false);
  expect(server.requests).toHaveLength(5);
  expect(clock.delays).toEqual([1000, 1500, 2250, 3375]);
  expect(counts()).toMatchObject({ 'error_total webhook': 2 });
  expect(logged).toMatchObject([{ sink: 'webhook', events: 2, auditId: 'a' }]);
  expect(JSON.stringify(logged)).not.toContain('of-the-server');
});

it('a batch that is accepted later is not lost', async () => {
  const { sink, counts } = await makeSink();
  server.answer = (response) => response.writeHead(server.requests.length < 3 ? 503 : 200).end();
  expect(await sink.process(eventsOf('a'))).toBe(true);
  expect([server.requests.length, counts()['error_total webhook']]).toEqual([3, undefined]);
});

it('the content of a successful answer has no meaning', async () => {
  const { sink } = await makeSink();
  server.answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"kind":');
  expect(await sink.process(eventsOf('a'))).toBe(true);
});

it('a webhook that hangs is given up when the server stops', async () => {
  const { sink, counts } = await makeSink();
  server.answer = () => undefined;
  const processed = sink.process(eventsOf('a'));
  await eventually('the request', () => server.requests.length === 1);
  sink.abandon();
  expect([await processed, counts()['error_total webhook']]).toEqual([false, 1]);
});

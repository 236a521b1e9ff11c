import { parseFaultPlan } from '../../src/faults/fault-plan.js';
import { configMap } from '../conformance/case.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { Http2Informer, Http2Transport } from '../harness/http2-informer.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

// The fault expireWatchAfter: watches end as those whose resourceVersion is too old.

const path = '/api/v1/namespaces/default/configmaps';
const protobuf = 'application/vnd.kubernetes.protobuf';
const as = (what: string) => `;as=${what};g=meta.k8s.io;v=v1`;
const status = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'too old resource version: injected by the fault plan',
  reason: 'Expired',
  code: 410,
};

let server: TestServer;
let admin: HttpClient;
beforeAll(async () => {
  server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { reconciles: false, config: { faults: { allowed: true }, featureGates: { CBORServingAndStorage: true } } },
  );
  admin = server.admin;
  await admin.post(path, configMap('first'));
});
beforeEach(() => plan());
afterAll(() => server?.stop());

function plan(...rules: readonly object[]): void {
  server.keelson.components.faults!.setPlan(parseFaultPlan(JSON.stringify({ rules })));
}
const counts = () => server.keelson.components.faults!.counts.rules;
const watchRule = (fault: object, more: object = {}) => ({
  name: 'watches',
  match: { verbs: ['watch'], resources: ['configmaps'] },
  fault,
  ...more,
});
const fromNow = async () => `${path}?watch=1&resourceVersion=${(await admin.get(path)).body.metadata.resourceVersion}`;

it.each([
  ['json', 'application/json', 'application/json'],
  ['json', `application/json${as('Table')}`, 'application/json'],
  ['json', `application/json${as('PartialObjectMetadata')}`, 'application/json'],
  ['protobuf', protobuf, `${protobuf};stream=watch`],
  ['protobuf', `${protobuf}${as('PartialObjectMetadata')}`, `${protobuf};stream=watch`],
  ['cbor', 'application/cbor', 'application/cbor-seq'],
])('expireWatchAfter ends a watch by one ERROR event in %s (%s)', async (name, accept, type) => {
  const encoding = server.keelson.components.encodings.find((encoding) => encoding.name === name)!;
  plan(watchRule({ expireWatchAfter: '0s' }));
  // Without a resourceVersion the watch has initial events, which do not come before the ERROR.
  for (const watched of [await fromNow(), `${path}?watch=1`]) {
    const watch = await admin.open('GET', watched, { headers: { accept } });
    const chunks: Buffer[] = [];
    for await (const chunk of watch.body) chunks.push(chunk as Buffer);
    expect([watch.code, watch.headers['content-type'], await watch.ended]).toEqual([200, type, 'complete']);
    const json = Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
    expect(Buffer.concat(chunks)).toEqual(encoding.frame?.('ERROR', encoding.encode(status)) ?? json);
  }
});

it('expireWatchAfter 300ms sends the events before that time, and nothing after the ERROR', async () => {
  const from = await fromNow();
  plan(watchRule({ expireWatchAfter: '300ms' }));
  const watch = await admin.watch(`${from}&allowWatchBookmarks=true`);
  await admin.post(path, configMap('before'));
  const events = await watch.rest();
  const { type, object } = events.pop()!;
  expect([type, object]).toEqual(['ERROR', status]);
  // On a slow machine the time may be over before the event.
  for (const { object } of events) expect(object.metadata.name).toBe('before');
  expect(await watch.ended).toBe('complete');
});

it('a watch that ends before expireWatchAfter gets no ERROR', async () => {
  plan(watchRule({ expireWatchAfter: '1h' }));
  const watch = await admin.watch(`${await fromNow()}&timeoutSeconds=1`);
  expect(await watch.rest()).toEqual([]);
  expect(await watch.ended).toBe('complete');
});

it('a stalled watch gets no ERROR of expireWatchAfter, and ends by its timeout', async () => {
  plan(watchRule({ stallWatchAfter: '0s' }), { ...watchRule({ expireWatchAfter: '0s' }), name: 'expiry' });
  const begin = performance.now();
  const watch = await admin.watch(`${path}?watch=1&timeoutSeconds=1`);
  expect(await watch.rest()).toEqual([]);
  expect(performance.now() - begin).toBeGreaterThan(900);
});

it('a client that lists and watches lists again after each expired watch, and then gets events', async () => {
  plan(watchRule({ expireWatchAfter: '0s' }, { limit: 5 }), {
    name: 'lists',
    match: { verbs: ['list'], resources: ['configmaps'] },
    probability: 0,
    fault: { status: 500 },
  });
  const { url, ca, client } = server.keelson;
  const transport = new Http2Transport(url, { ca, cert: client.certificate, key: client.key });
  const informer = new Http2Informer(transport, path);
  await eventually('a watch stays open', () => counts()[0]!.matched === 6);
  expect(counts()).toEqual([
    { name: 'watches', matched: 6, injected: 5 },
    { name: 'lists', matched: 6, injected: 0 },
  ]);
  await admin.post(path, configMap('last', { data: { value: 'seen' } }));
  await eventually('the client has the event', () => informer.values.get('last') === 'seen');
  expect(informer.refused).toBe(0);
  informer.stop();
  transport.close();
  await informer.running;
});

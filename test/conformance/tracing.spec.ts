import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdmissionWebhooks, WebhookInstaller } from '../harness/admission-webhook.js';
import { eventually } from '../harness/eventually.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { TraceCollector, type CollectedSpan } from '../harness/trace-collector.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const sampled = `00-${traceId}-${spanId}-01`;

let directory: string;
let collector: TraceCollector;
let webhooks: AdmissionWebhooks;
let server: TestServer;
/** A server that samples nothing by itself. */
let quiet: TestServer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-tracing-'));
  collector = await TraceCollector.start();
  webhooks = await AdmissionWebhooks.start();
  server = await startTracedServer(1_000_000);
  quiet = await startTracedServer(0);
});
afterAll(async () => {
  await server.stop();
  await quiet.stop();
  await webhooks.stop();
  await collector.stop();
  await rm(directory, { recursive: true, force: true });
});

async function startTracedServer(samplingRatePerMillion: number, endpoint = collector.endpoint): Promise<TestServer> {
  const configFile = join(directory, `${samplingRatePerMillion}-${endpoint.replace(/\W/g, '-')}.yaml`);
  const fields = { endpoint, samplingRatePerMillion };
  const header = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'TracingConfiguration' };
  await writeFile(configFile, JSON.stringify({ ...header, ...fields }));
  return startTestServer({ store: 'memory', naming: 'kubernetes' }, { config: { tracing: { configFile } } });
}

/** Returns all spans of the request with this audit id, when the collector has them. */
async function traceOf(auditId: string): Promise<readonly CollectedSpan[]> {
  await eventually('the collector has the trace', () => collector.traceOf(auditId).some(isWhole));
  return collector.traceOf(auditId);
}

/** The span of the request ends last. */
const isWhole = ({ kind }: CollectedSpan): boolean => kind === 2;

const namesOf = (spans: readonly CollectedSpan[]) => spans.map(({ name }) => name);
const findSpan = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const found = spans.find((span) => span.name === name);
  if (!found) throw new Error(`no span ${name} in ${namesOf(spans).join(', ')}`);
  return found;
};

describe('spans', () => {
  let spans: readonly CollectedSpan[];
  let traceparent: unknown;
  beforeAll(async () => {
    const installer = new WebhookInstaller(server.admin, webhooks);
    const { labels, paths } = await installer.install('mutating', [{}]);
    const body = { metadata: { name: 'traced', labels }, data: { key: 'the data of an object' } };
    const headers = { 'audit-id': 'traced-create', 'user-agent': 'test/1' };
    const created = await server.admin.post(`${configMaps}?fieldManager=me&token=s3cret`, body, headers);
    expect(created.code).toBe(201);
    spans = await traceOf('traced-create');
    traceparent = webhooks.at(paths[0]!)[0]?.headers['traceparent'];
  });

  it('the span of a request has the names and attributes of kube-apiserver', () => {
    const root = spans[0]!;
    expect(root.name).toBe('POST /api/v1/namespaces/{:namespace}/configmaps');
    expect(root.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': 201,
      'http.target': `${configMaps}?fieldManager=me&token=REDACTED`,
      'url.path': configMaps,
      'user_agent.original': 'test/1',
      'audit-id': 'traced-create',
    });
    expect(root.resource).toEqual({
      'service.name': 'apiserver',
      'service.instance.id': expect.stringMatching(/^apiserver-[0-9a-f]{26}$/) as string,
    });
    expect(root.parentSpanId).toBe('');
  });

  it('filters are below the request, and the steps of a create below its verb', () => {
    const byId = new Map(spans.map((span) => [span.spanId, span.name]));
    const above = (name: string) => byId.get(findSpan(spans, name).parentSpanId);
    for (const filter of ['authentication', 'priorityandfairness', 'authorization', 'Create'])
      expect([filter, above(filter)]).toEqual([filter, spans[0]!.name]);
    for (const step of ['ReadBody', 'Decode', 'Admission', 'Store', 'SerializeObject', 'WriteResponse'])
      expect([step, above(step)]).toEqual([step, 'Create']);
    expect(above('MutatingAdmissionWebhook')).toBe('Admission');
    expect(above('Call mutating webhook')).toBe('MutatingAdmissionWebhook');
  });

  it('spans have times within those of their request', () => {
    const root = spans[0]!;
    const outside = spans.filter(
      ({ startMs, endMs }) => startMs < root.startMs || endMs > root.endMs || endMs < startMs,
    );
    expect(namesOf(outside)).toEqual([]);
    expect(Math.abs(Date.now() - root.startMs)).toBeLessThan(600_000);
  });

  it('the verb has the events of kube-apiserver', () => {
    expect(findSpan(spans, 'Create').events.map(({ name }) => name)).toEqual([
      'limitedReadBody succeeded',
      'About to convert to expected version',
      'Conversion done',
      'About to store object in database',
      'Write to database call succeeded',
      'About to write a response',
      'Writing http response done',
    ]);
  });

  it('a webhook gets the context of its call', () => {
    const call = findSpan(spans, 'Call mutating webhook');
    expect(traceparent).toBe(`00-${call.traceId}-${call.spanId}-01`);
    expect(call.kind).toBe(3);
    expect(call.attributes).toMatchObject({ resource: 'configmaps', operation: 'CREATE' });
  });

  it('no span has a token or the content of an object', () => {
    const text = JSON.stringify(spans);
    expect(text).not.toContain('s3cret');
    expect(text).not.toContain('the data of an object');
    expect(text).not.toContain('BEGIN');
  });
});

describe('sampling', () => {
  const ignored = {
    garbage: 'garbage',
    zeros: `00-${'0'.repeat(32)}-${spanId}-01`,
    'upper-case': sampled.toUpperCase(),
    'more-fields': `${sampled}-more`,
    'version-ff': sampled.replace(/^00/, 'ff'),
    long: sampled + '-'.repeat(1_024),
    twice: `${sampled}, ${sampled}`,
  };
  const leftOut = {
    long: `a=${'x'.repeat(600)}`,
    valueless: 'a',
    crowded: Array.from({ length: 40 }, (_, index) => `k${index}=1`).join(','),
  };
  const rootOf = (auditId: string) =>
    collector.spans.find(({ attributes, kind }) => kind === 2 && attributes['audit-id'] === auditId);

  // Spans are sent every five seconds: all requests are made before the first test waits for them.
  beforeAll(async () => {
    const read = async (client: TestServer['admin'], auditId: string, headers: Record<string, string>) => {
      await client.get(`${configMaps}?limit=1`, { 'audit-id': auditId, ...headers });
    };
    for (const [name, traceparent] of Object.entries(ignored))
      await read(server.admin, `ignored-${name}`, { traceparent });
    await read(server.client(), 'linked', { traceparent: sampled });
    for (const [name, tracestate] of Object.entries(leftOut))
      await read(quiet.admin, `state-${name}`, { traceparent: sampled, tracestate, baggage: 'secret=1' });
    await read(quiet.admin, 'unsampled-1', {});
    await read(quiet.admin, 'unsampled-2', { traceparent: sampled.replace(/01$/, '00') });
    await read(quiet.client(), 'unsampled-3', { traceparent: sampled });
    await read(quiet.admin, 'continued', { traceparent: sampled, tracestate: 'vendor=1,other@x=2' });
    await read(server.admin, 'last', {});
    await eventually('the collector has the last traces', () => Boolean(rootOf('continued') && rootOf('last')));
  });

  it('the sampled trace of an administrator is continued, with its tracestate', () => {
    expect(rootOf('continued')).toMatchObject({
      traceId,
      parentSpanId: spanId,
      traceState: 'vendor=1,other@x=2',
      links: [],
    });
  });

  it('a request without a sampled trace of an administrator is not sampled with rate 0', () => {
    expect(['unsampled-1', 'unsampled-2', 'unsampled-3'].map(rootOf)).toEqual([undefined, undefined, undefined]);
  });

  it('the trace of another client is not continued, but linked', () => {
    const root = rootOf('linked')!;
    expect(root.traceId).not.toBe(traceId);
    expect(root).toMatchObject({ parentSpanId: '', links: [{ traceId, spanId }] });
  });

  it.each(Object.keys(ignored))('an invalid traceparent (%s) is ignored', (name) => {
    expect(rootOf(`ignored-${name}`)).toMatchObject({ parentSpanId: '', links: [] });
  });

  it.each(Object.keys(leftOut))('an invalid tracestate (%s) is left out, and its trace is continued', (name) => {
    expect(rootOf(`state-${name}`)).toMatchObject({ traceId, traceState: '' });
  });
});

describe('a collector that fails', () => {
  const counts = async ({ admin }: TestServer) => {
    const { text } = await admin.get('/metrics');
    const read = (name: string) =>
      Number(new RegExp(`^keelson_tracing_spans_${name}_total (\\d+)$`, 'm').exec(text)?.[1]);
    return { exported: read('exported'), dropped: read('dropped') };
  };

  it('requests go on while the collector hangs; spans beyond the queue are dropped and counted', async () => {
    const hanging = await TraceCollector.start();
    hanging.behaviour = 'hang';
    const traced = await startTracedServer(1_000_000, hanging.endpoint);
    try {
      for (let i = 0; i < 400; i++) expect((await traced.admin.get(configMaps)).code).toBe(200);
      const { exported, dropped } = await counts(traced);
      expect(exported).toBe(0);
      expect(dropped).toBeGreaterThan(0);
    } finally {
      await traced.stop();
      await hanging.stop();
    }
  });

  it('the server starts, serves and stops without a collector', async () => {
    const gone = await TraceCollector.start();
    const { endpoint } = gone;
    await gone.stop();
    const traced = await startTracedServer(1_000_000, endpoint);
    expect((await traced.admin.get(configMaps)).code).toBe(200);
    expect((await counts(traced)).exported).toBe(0);
    await traced.stop();
  });
});

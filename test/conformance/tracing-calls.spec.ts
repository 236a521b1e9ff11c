import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { AdmissionWebhooks, WebhookInstaller } from '../harness/admission-webhook.js';
import { answers, AuthorizationWebhookServer } from '../harness/authorization-webhook.js';
import { ClientKubeconfigs } from '../harness/client-kubeconfigs.js';
import { ConversionWebhook } from '../harness/conversion-webhook.js';
import { definitions } from '../harness/custom-definitions.js';
import { describeWithEtcd } from '../harness/etcd.js';
import { eventually } from '../harness/eventually.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { respond, WebhookServer } from '../harness/token-webhook.js';
import { TraceCollector, type CollectedSpan } from '../harness/trace-collector.js';

const group = 'traced.example.com';
const boxes = (version: string) => `/apis/${group}/${version}/namespaces/default/boxes`;
const box = (name: string, labels: object = {}) => ({
  apiVersion: `${group}/v2`,
  kind: 'Box',
  metadata: { name, labels },
  spec: { secret: 's3cret' },
});

let files: ClientKubeconfigs;
let collector: TraceCollector;
let tokens: WebhookServer;
let access: AuthorizationWebhookServer;
let conversion: ConversionWebhook;
let admission: AdmissionWebhooks;
let server: TestServer;

const headerOf = (requests: readonly { readonly headers: IncomingMessage['headers'] }[]) =>
  requests.at(-1)?.headers['traceparent'];

async function traceOf(auditId: string): Promise<readonly CollectedSpan[]> {
  await eventually('the collector has the trace', () => collector.traceOf(auditId).some(({ kind }) => kind === 2));
  return collector.traceOf(auditId);
}

function spanIn(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const found = spans.find((span) => span.name === name);
  if (!found) throw new Error(`no span ${name} in ${spans.map((span) => span.name).join(', ')}`);
  return found;
}

const above = (spans: readonly CollectedSpan[], name: string) =>
  spans.find(({ spanId }) => spanId === spanIn(spans, name).parentSpanId)?.name;

const namesOf = (spans: readonly CollectedSpan[]) => spans.map(({ name }) => name);

const contextOf = ({ traceId, spanId }: CollectedSpan) => `00-${traceId}-${spanId}-01`;

async function defineBoxes(): Promise<void> {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const version = (name: string) => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: { openAPIV3Schema: schema },
  });
  const { code, text } = await server.admin.post(definitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `boxes.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'boxes', kind: 'Box' },
      versions: [version('v1'), version('v2')],
      conversion: conversion.conversion,
    },
  });
  if (code !== 201) throw new Error(text);
  await eventually('boxes are served', async () => (await server.admin.get(boxes('v2'))).code === 200);
}

describeWithEtcd('spans of calls', () => {
  beforeAll(async () => {
    files = new ClientKubeconfigs();
    collector = await TraceCollector.start();
    [tokens, access] = [await WebhookServer.start(), await AuthorizationWebhookServer.start()];
    [conversion, admission] = [await ConversionWebhook.start(), await AdmissionWebhooks.start()];
    tokens.answer = (token, response) => {
      const groups = token.startsWith('monitor') ? ['system:monitoring'] : [];
      respond(response, { authenticated: true, user: { username: token, groups } });
    };
    access.answer = answers({ allowed: true });
    const configuration = {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'TracingConfiguration',
      endpoint: collector.endpoint,
      samplingRatePerMillion: 1_000_000,
    };
    const config = {
      tracing: { configFile: files.write('tracing.yaml', JSON.stringify(configuration)) },
      authentication: { tokenWebhook: { configFile: files.kubeconfig(tokens, {}) } },
      authorization: {
        modes: ['RBAC', 'Webhook'],
        webhook: { configFile: files.kubeconfig(access, {}) },
      },
    } as const;
    server = await startTestServer({ store: 'etcd', naming: 'kubernetes' }, { config });
    await defineBoxes();
  });
  afterAll(async () => {
    await server.stop();
    await Promise.all([tokens.stop(), access.stop(), conversion.stop(), admission.stop(), collector.stop()]);
    files.remove();
  });

  /** The headers that servers got with the last request before each wait. */
  const sent = { token: '', access: '', conversion: '', listed: '', monitor: '' };
  const clientTrace = '1af7651916cd43dd8448eb211c80319c';

  // Spans are sent every five seconds: all requests are made before the first test waits for them.
  beforeAll(async () => {
    const rule = { apiGroups: [group], apiVersions: ['*'], operations: ['*'], resources: ['boxes'] };
    const { labels } = await new WebhookInstaller(server.admin, admission).install('mutating', [{ rules: [rule] }]);
    const created = await server
      .client({ token: 'first-token' })
      .post(`${boxes('v2')}?fieldManager=me&token=s3cret`, box('first', labels), {
        'audit-id': 'traced-create',
        'user-agent': 'test/1',
      });
    expect(created.code).toBe(201);
    Object.assign(sent, {
      token: headerOf(tokens.requests),
      access: headerOf(access.requests),
      conversion: headerOf(conversion.requests),
    });
    const stored = { ...box('second'), apiVersion: `${group}/v1` };
    expect((await server.admin.post(boxes('v1'), stored)).code).toBe(201);
    expect((await server.admin.get(boxes('v2'), { 'audit-id': 'listed' })).code).toBe(200);
    Object.assign(sent, { listed: headerOf(conversion.requests) });
    const changed = { ...box('first'), metadata: { name: 'first', resourceVersion: '1' } };
    expect((await server.admin.put(`${boxes('v2')}/first`, changed, { 'audit-id': 'conflict' })).code).toBe(409);
    const traceparent = `00-${clientTrace}-b7ad6b7169203331-01`;
    await server.client({ token: 'monitor-1' }).get(boxes('v1'), { traceparent, 'audit-id': 'continued' });
    Object.assign(sent, { monitor: headerOf(tokens.requests) });
    access.answer = (_review, response) => void response.writeHead(400).end();
    const refused = await server.client({ token: 'refused' }).get('/api/v1/nodes', { 'audit-id': 'refused' });
    expect(refused.code).toBe(403);
    access.answer = answers({ allowed: true });
  });

  it('calls of webhooks and of etcd have spans in the step that makes them, and pass their context on', async () => {
    const spans = await traceOf('traced-create');
    expect(above(spans, 'Call authentication webhook')).toBe('authentication');
    expect(above(spans, 'Call authorization webhook')).toBe('authorization');
    expect(above(spans, 'Call conversion webhook')).toBe('Create');
    expect(above(spans, 'etcdserverpb.KV/Txn')).toBe('Store');
    expect(sent.token).toBe(contextOf(spanIn(spans, 'Call authentication webhook')));
    expect(sent.access).toBe(contextOf(spanIn(spans, 'Call authorization webhook')));
    const conversions = spans.filter(({ name }) => name === 'Call conversion webhook').map(contextOf);
    expect(conversions).toContain(sent.conversion);
    expect(spanIn(spans, 'Call conversion webhook').attributes).toMatchObject({
      'custom-resource-definition': `boxes.${group}`,
      'object-count': 1,
    });
    expect(spanIn(spans, 'etcdserverpb.KV/Txn').attributes).toMatchObject({ 'rpc.method': 'Txn', keys: 1 });
    const text = JSON.stringify(spans);
    expect(text).not.toContain('s3cret');
    expect(text).not.toContain('first-token');
  });

  it('the documented trace has the steps of a real create', async () => {
    const spans = await traceOf('traced-create');
    const page = await readFile(join(__dirname, '../../docs/tracing.md'), 'utf8');
    const [, json = '[]'] = /## A trace[^#]*?```json\n(.*?)```/s.exec(page) ?? [];
    const documented = JSON.parse(json) as { readonly name: string }[];
    // Other plug-ins may be added, and need no other documentation.
    const isPlugin = (span: CollectedSpan) => names.get(span.parentSpanId) === 'Admission';
    const names = new Map(spans.map((span) => [span.spanId, span.name]));
    const plugins = new Set(namesOf(spans.filter(isPlugin)));
    const inDocument = documented.map(({ name }) => name);
    expect(inDocument.filter((name) => !plugins.has(name))).toEqual(
      namesOf(inOrder(spans).filter((span) => !isPlugin(span))),
    );
    expect(inDocument).toEqual(
      expect.arrayContaining(['NamespaceLifecycle', 'MutatingAdmissionWebhook', 'ResourceQuota']),
    );
  });

  it('a list of another version has the conversion of its objects in its span', async () => {
    const spans = await traceOf('listed');
    expect(above(spans, 'Call conversion webhook')).toBe('SerializeObject');
    expect(sent.listed).toBe(contextOf(spanIn(spans, 'Call conversion webhook')));
  });

  it('an update with an old resourceVersion has the read of etcd that confirms the conflict', async () => {
    const spans = await traceOf('conflict');
    expect(spanIn(spans, 'Store').attributes).toMatchObject({ operation: 'get', keys: 1 });
    expect(above(spans, 'etcdserverpb.KV/Range')).toBe('Store');
    const [event] = spanIn(spans, 'etcdserverpb.KV/Range').events;
    expect(event).toMatchObject({ name: 'Keys read', attributes: { keys: 1 } });
  });

  it('the call of a token webhook moves into the trace that the request turns out to continue', async () => {
    const spans = await traceOf('continued');
    expect(spans[0]!.traceId).toBe(clientTrace);
    expect(above(spans, 'Call authentication webhook')).toBe('authentication');
    // A client that is not authenticated yet cannot choose the trace of the webhook.
    expect(sent.monitor).not.toContain(clientTrace);
    expect(sent.monitor).toContain(spanIn(spans, 'Call authentication webhook').spanId);
  });

  it('a failed call of an authorization webhook has the error in its span', async () => {
    const span = spanIn(await traceOf('refused'), 'Call authorization webhook');
    expect(span.status).toEqual({ code: 2, message: 'it answered with status 400' });
  });
});

/** Sorts spans as a tree: a span comes before those below it, in the order of their beginnings. */
function inOrder(spans: readonly CollectedSpan[], parentId = ''): CollectedSpan[] {
  const below = spans.filter(({ parentSpanId }) => parentSpanId === parentId);
  return below.flatMap((span) => [span, ...inOrder(spans, span.spanId)]);
}

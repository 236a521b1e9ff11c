import { AuditFiles, type AuditLine } from '../harness/audit.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

/** The content of audit events, on a whole server that records everything. */
const files = new AuditFiles(`
omitStages: [RequestReceived]
rules:
- {level: None, users: [system:apiserver]}
- {level: None, nonResourceURLs: ["/healthz*"]}
- {level: Metadata, resources: [{resources: [secrets, serviceaccounts/token]}, {group: authentication.k8s.io}]}
- {level: RequestResponse, namespaces: [default], resources: [{resources: [configmaps]}], omitManagedFields: true}
- {level: Request, resources: [{resources: [services]}]}
- {level: RequestResponse, omitStages: []}
`);
const core = '/api/v1/namespaces/default';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { config: { ...files.config(), admission: { allowPrivileged: true } }, reconciles: false },
  );
});
afterAll(async () => {
  await server.stop();
  files.remove();
});

type Answer = Awaited<ReturnType<TestServer['admin']['get']>>;
const eventOf = async (answer: Answer): Promise<AuditLine> => (await files.of(answer))[0]!;
const configMap = (name: string, data: object = { k: 'v' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
const stored = (name: string, data: object) => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {
    name,
    namespace: 'default',
    uid: expect.any(String),
    resourceVersion: expect.any(String),
    creationTimestamp: expect.any(String),
  },
  data,
});

describe('an event', () => {
  it('of a create has the objects of request and response', async () => {
    const event = await eventOf(await server.admin.post(`${core}/configmaps?pretty=true`, configMap('created')));
    expect(event).toEqual({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'RequestResponse',
      auditID: expect.any(String),
      stage: 'ResponseComplete',
      requestURI: `${core}/configmaps?pretty=true`,
      verb: 'create',
      user: {
        username: 'kubernetes-admin',
        groups: ['system:masters', 'system:authenticated'],
        extra: expect.anything(),
      },
      sourceIPs: ['127.0.0.1'],
      userAgent: 'keelson-test/1',
      objectRef: { resource: 'configmaps', namespace: 'default', name: 'created', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 201 },
      requestObject: configMap('created'),
      responseObject: stored('created', { k: 'v' }),
      requestReceivedTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      stageTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' },
    });
  });

  it.each<[name: string, type: string, patch: unknown, recorded: unknown]>([
    ['a merge patch', 'merge', '{"data":\n {"a": "b"}}', { data: { a: 'b' } }],
    [
      'a JSON patch',
      'json',
      [{ op: 'add', path: '/data/a', value: 'b' }],
      [{ op: 'add', path: '/data/a', value: 'b' }],
    ],
    [
      'an apply in YAML',
      'application/apply-patch+yaml',
      'apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n',
      { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b' } },
    ],
  ])('of %s has the patch', async (_name, type, patch, recorded) => {
    await server.admin.post(`${core}/configmaps`, configMap('patched'));
    const event = await eventOf(
      await server.admin.patch(
        `${core}/configmaps/patched?fieldManager=m&force=${type.includes('apply')}`.replace('&force=false', ''),
        patch,
        type,
      ),
    );
    expect(event).toMatchObject({ verb: 'patch', responseStatus: { code: 200 }, requestObject: recorded });
    expect(event.responseObject).toEqual(stored('patched', { k: 'v', a: 'b' }));
  });

  it('of a delete has its options and the Status', async () => {
    await server.admin.post(`${core}/configmaps`, configMap('deleted'));
    const event = await eventOf(
      await server.admin.delete(`${core}/configmaps/deleted`, {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        propagationPolicy: 'Background',
      }),
    );
    expect(event).toMatchObject({
      verb: 'delete',
      requestObject: { kind: 'DeleteOptions', propagationPolicy: 'Background' },
      responseObject: { kind: 'Status', status: 'Success' },
      responseStatus: { status: 'Success', details: { name: 'deleted' }, code: 200 },
    });
  });

  it.each([
    ['protobuf', 'application/vnd.kubernetes.protobuf', 'ConfigMap'],
    ['YAML', 'application/yaml', 'ConfigMap'],
    ['PartialObjectMetadata', 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'PartialObjectMetadata'],
    ['a Table', 'application/json;as=Table;g=meta.k8s.io;v=v1', 'Table'],
  ])('of a get as %s has the response as JSON', async (_name, accept, kind) => {
    await server.admin.post(`${core}/configmaps`, configMap('read'));
    const event = await eventOf(await server.admin.get(`${core}/configmaps/read`, { accept }));
    expect(event.responseObject).toMatchObject({ kind });
    expect(JSON.stringify(event.responseObject)).not.toContain('managedFields');
  });

  it.each([
    ['JSON', 'application/json'],
    ['indented JSON', 'application/json;pretty=1'],
    ['protobuf', 'application/vnd.kubernetes.protobuf'],
    ['compressed JSON', 'application/json', 'gzip'],
  ])('of a list as %s has its items', async (_name, accept, encoding = '') => {
    for (let index = 0; index < 30; index++)
      await server.admin.post(`${core}/configmaps`, configMap(`listed-${index}`, { k: 'x'.repeat(9000) }));
    const event = await eventOf(
      await server.admin.get(`${core}/configmaps?limit=20`, { accept, 'accept-encoding': encoding }),
    );
    const list = event.responseObject as { kind: string; items: Record<string, unknown>[] };
    expect([list.kind, list.items.length, event.responseStatus]).toEqual([
      'ConfigMapList',
      20,
      { metadata: {}, code: 200 },
    ]);
    expect(JSON.stringify(list)).not.toContain('managedFields');
  });

  // prettier-ignore
  it.each<[name: string, path: string, object: object, wanted: object]>([
    ['a Namespace', '/api/v1/namespaces', { metadata: { name: 'with-defaults' } }, { spec: {}, status: { phase: 'Active' } }],
    ['a kind that is stored in another version', '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers', { metadata: { name: 'scaled' }, spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3 } }, { kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v1', spec: { minReplicas: 1, targetCPUUtilizationPercentage: 80 } }],
    ['an Event of events.k8s.io', '/apis/events.k8s.io/v1/namespaces/default/events', { metadata: { name: 'e' }, eventTime: '2026-01-01T00:00:00.000000Z', reportingController: 'c/c', reportingInstance: 'i', action: 'a', reason: 'r', type: 'Normal', regarding: { namespace: 'default' } }, { apiVersion: 'events.k8s.io/v1', reportingController: 'c/c', regarding: { namespace: 'default' } }],
  ])('of a create of %s has the object of the request with its defaults', async (_name, path, object, wanted) => {
    const answer = await server.admin.post(path, object);
    expect(answer.code).toBe(201);
    expect((await eventOf(answer)).requestObject).toMatchObject(wanted);
  });

  it('of a deletecollection has the resourceVersion of the list', async () => {
    const answer = await server.admin.delete(`${core}/configmaps?labelSelector=a=b`);
    const list = {
      kind: 'ConfigMapList',
      metadata: { resourceVersion: expect.stringMatching(/^[1-9]\d*$/) },
      items: [],
    };
    expect(answer.body).toMatchObject(list);
    expect((await eventOf(answer)).responseObject).toMatchObject(list);
  });

  it('of the level Request has no response, and none of a read has an object', async () => {
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } };
    const created = await eventOf(await server.admin.post(`${core}/services`, service));
    expect(created.requestObject).toMatchObject({
      spec: { type: 'ClusterIP', ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }] },
    });
    const read = await eventOf(await server.admin.get(`${core}/services/s`));
    expect([created.responseObject, read.requestObject, read.responseObject]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('of the level Metadata names the object, and never has its content', async () => {
    const secret = { metadata: { name: 'hidden', uid: undefined }, stringData: { p: 'top-secret' } };
    const events = [
      await eventOf(await server.admin.post(`${core}/secrets`, secret)),
      await eventOf(await server.admin.get(`${core}/secrets/hidden`)),
      await eventOf(await server.admin.get(`${core}/secrets`)),
      await eventOf(await server.admin.patch(`${core}/secrets/hidden`, { stringData: { p: 'top-secret' } })),
      await eventOf(
        await server.admin.post('/apis/authentication.k8s.io/v1/tokenreviews', {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenReview',
          spec: { token: 'top-secret' },
        }),
      ),
    ];
    expect(events.map(({ objectRef }) => objectRef?.['name'])).toEqual([
      'hidden',
      'hidden',
      undefined,
      'hidden',
      undefined,
    ]);
    expect(JSON.stringify(events)).not.toMatch(/top-secret|dG9wLXNlY3JldA|Object"/);
  });

  it('has the version of the object that an update names', async () => {
    const { body } = await server.admin.post(`${core}/configmaps`, configMap('updated'));
    const { uid, resourceVersion } = (body as { metadata: Record<string, string> }).metadata;
    const event = await eventOf(await server.admin.put(`${core}/configmaps/updated`, body));
    expect(event.objectRef).toMatchObject({ uid, resourceVersion });
  });

  it('of the authentication and the addresses of its client', async () => {
    const answer = await server.admin.get(`${core}/services`, {
      ...{ 'x-forwarded-for': '192.0.2.1, 192.0.2.2', 'x-real-ip': '192.0.2.3', 'user-agent': `a"${'x'.repeat(2000)}` },
      ...{ 'impersonate-user': 'dave', 'impersonate-group': 'devs', 'audit-id': 'my-own-id' },
    });
    expect(answer.headers['audit-id']).toBe('my-own-id');
    expect(await eventOf(answer)).toMatchObject({
      auditID: 'my-own-id',
      user: { username: 'kubernetes-admin' },
      impersonatedUser: { username: 'dave', groups: ['devs', 'system:authenticated'] },
      sourceIPs: ['192.0.2.1', '192.0.2.2', '192.0.2.3', '127.0.0.1'],
      userAgent: `a"${'x'.repeat(1022)}...TRUNCATED`,
      responseStatus: { code: 403, reason: 'Forbidden' },
      annotations: { 'authorization.k8s.io/decision': 'forbid' },
    });
  });
});

describe('a request that fails', () => {
  // prettier-ignore
  it.each<[name: string, send: () => Promise<Answer>, code: number, wanted: Record<string, unknown>]>([
    ['404', () => server.admin.get(`${core}/configmaps/none`), 404, { responseStatus: { status: 'Failure', reason: 'NotFound', code: 404 }, responseObject: { kind: 'Status', code: 404 } }],
    ['422', () => server.admin.post(`${core}/configmaps`, configMap('UPPER')), 422, { requestObject: configMap('UPPER'), responseStatus: { reason: 'Invalid' } }],
    ['an unknown path', () => server.admin.get('/nothing'), 404, { responseStatus: { metadata: {}, code: 404 } }],
    ['a body that is not JSON', () => server.admin.request('POST', `${core}/configmaps`, { body: '{"a":' }), 400, { responseStatus: { reason: 'BadRequest' } }],
    ['an unacceptable encoding', () => server.admin.get(`${core}/configmaps`, { accept: 'text/csv' }), 406, { responseStatus: { metadata: {}, code: 406 } }],
    ['an invalid timeout', () => server.admin.get(`${core}/configmaps?timeout=x`), 400, { stage: 'ResponseStarted', user: {} }],
  ])('with %s is recorded', async (_name, send, code, wanted) => {
    const answer = await send();
    expect(answer.code).toBe(code);
    expect(await eventOf(answer)).toMatchObject(wanted);
  });

  it('in authentication has one event without a user', async () => {
    const answer = await server.client({ token: 'unknown' }).get(`${core}/configmaps`);
    expect(answer.code).toBe(401);
    const event = await eventOf(answer);
    expect(event).toMatchObject({
      stage: 'ResponseStarted',
      user: {},
      responseStatus: { reason: 'Unauthorized', code: 401 },
    });
    expect(JSON.stringify(event)).not.toContain('unknown');
  });

  it('that the policy does not select is not recorded', async () => {
    const answers = [await server.admin.get('/healthz'), await server.admin.get('/version')];
    await files.of(answers[1]!);
    expect(files.lines().filter(({ auditID }) => auditID === answers[0]!.headers['audit-id'])).toEqual([]);
  });
});

it('a watch has an event when it begins and one when it ends', async () => {
  const path = `${core}/configmaps?watch=1&timeoutSeconds=1`;
  const watch = await server.admin.watch(path, { 'audit-id': 'a-watch' });
  await watch.rest();
  const events = await files.of({ headers: { 'audit-id': 'a-watch' } }, 2);
  expect(events.map(({ stage, responseStatus }) => [stage, responseStatus])).toEqual([
    ['ResponseStarted', { metadata: {}, code: 200 }],
    ['ResponseComplete', { metadata: {}, code: 200 }],
  ]);
});

// prettier-ignore
it.each<[name: string, send: () => Promise<Answer>]>([
  ['3 MB of data', () => server.admin.post(`${core}/configmaps`, configMap('large', { k: 'x'.repeat(3_000_000) }))],
  ['line ends and separators', () => server.admin.request('POST', `${core}/configmaps`, { body: '{"metadata":\r\n{"name":"lines"},\n"data":{"k":"a\\n\\r\u2028\\u0000"}}', headers: { 'content-type': 'application/json' } })],
  ['a patch of many lines', () => server.admin.patch(`${core}/configmaps/none`, `[${'\n'.repeat(10_000)}]`, 'json')],
  ['a patch that is not JSON', () => server.admin.patch(`${core}/configmaps/none`, '{"a":\n')],
  ['prototype keys', () => server.admin.request('POST', `${core}/configmaps`, { body: '{"metadata":{"name":"p","__proto__":{"a":1}},"constructor":{"prototype":1}}', headers: { 'content-type': 'application/json' } })],
  ['prototype keys of a user', () => server.admin.get(core, { 'impersonate-user': '__proto__', 'impersonate-extra-__proto__': 'a', 'impersonate-extra-constructor': 'b' })],
  ['addresses that are none', () => server.admin.get(core, { 'x-forwarded-for': `${'1.2.3.4,'.repeat(500)}","x`, 'x-real-ip': '"}' })],
  ['an unsafe Audit-Id', () => server.admin.get(core, { 'audit-id': '"},{"a":"' })],
  ['a long query', () => server.admin.get(`${core}/configmaps?labelSelector=${'%22%0A'.repeat(1000)}`)],
])('a request with %s has one event on a line of its own', async (_name, send) => {
  const answer = await send();
  const [event, ...more] = await files.of(answer);
  expect([event!.responseStatus!['code'], more]).toEqual([answer.code, []]);
});

it('annotations of plug-ins and of the API are recorded', async () => {
  await server.admin.post('/api/v1/namespaces', {
    metadata: { name: 'restricted', labels: { 'pod-security.kubernetes.io/audit': 'restricted' } },
  });
  await server.admin.post('/api/v1/namespaces/restricted/serviceaccounts', { metadata: { name: 'default' } });
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const event = await eventOf(await server.admin.post('/api/v1/namespaces/restricted/pods', pod));
  expect(event.annotations).toMatchObject({
    'authorization.k8s.io/decision': 'allow',
    'pod-security.kubernetes.io/enforce-policy': 'privileged:latest',
    'pod-security.kubernetes.io/audit-violations': expect.stringContaining(
      'would violate PodSecurity "restricted:latest"',
    ),
  });
  const deprecated = await eventOf(await server.admin.get(`${core}/endpoints`));
  expect(deprecated.annotations).toMatchObject({ 'k8s.io/deprecated': 'true' });
});

it('events and levels are counted', async () => {
  const { text } = await server.admin.get('/metrics');
  const count = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  expect(count('apiserver_audit_event_total')).toBeGreaterThan(20);
  expect(count('apiserver_audit_level_total\\{level="Metadata"\\}')).toBeGreaterThan(4);
  expect(count('apiserver_audit_requests_rejected_total')).toBe(0);
  expect(text).not.toMatch(/^apiserver_audit_error_total\{/m);
});

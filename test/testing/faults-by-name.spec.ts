import { parseFaultPlan } from '../../src/faults/fault-plan.js';
import { configMap } from '../conformance/case.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

// Fault rules with names, and errors with the name of the object, for creates: the path does not have the name.

const path = '/api/v1/namespaces/default/configmaps';
const json = 'application/json';

let server: TestServer;
let admin: HttpClient;
beforeAll(async () => {
  server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { reconciles: false, config: { faults: { allowed: true }, featureGates: { CBORServingAndStorage: true } } },
  );
  admin = server.admin;
});
beforeEach(() => plan());
afterAll(() => server?.stop());

function plan(...rules: readonly object[]): void {
  const named = rules.map((rule, index) => ({ name: `r${index}`, ...rule }));
  server.keelson.components.faults!.setPlan(parseFaultPlan(JSON.stringify({ seed: 5, rules: named })));
}
const creates = (names: readonly string[]) => ({ verbs: ['create'], resources: ['configmaps'], names });
/** The matched requests and the faults of each rule. */
const counts = () => server.keelson.components.faults!.counts.rules.map(({ matched, injected }) => [matched, injected]);
const post = (body: unknown, headers?: Record<string, string>) => admin.post(path, body, headers);
const exists = async (name: string) => (await admin.get(`${path}/${name}`)).code === 200;

it.each(['json', 'yaml', 'protobuf', 'cbor'])('a create in %s matches names by its body', async (name) => {
  const encoding = server.keelson.components.encodings.find((encoding) => encoding.name === name)!;
  const create = (name: string) =>
    post(encoding.encode(configMap(name)), { 'content-type': encoding.mediaType, accept: json });
  const [failing, passing] = [`${name}-failing`, `${name}-passing`];
  plan({ match: creates([failing]), fault: { status: 409 } });
  expect((await create(passing)).code).toBe(201);
  const { code, body } = await create(failing);
  expect([code, body]).toEqual([
    409,
    expect.objectContaining({
      reason: 'AlreadyExists',
      message: `configmaps "${failing}" already exists`,
      details: { name: failing, kind: 'configmaps' },
    }),
  ]);
  expect([await exists(passing), await exists(failing), counts()]).toEqual([true, false, [[1, 1]]]);
});

it('an object without a name is matched by its generateName', async () => {
  plan({ match: creates(['job-*']), fault: { status: 403 } });
  const create = (generateName: string) => post(configMap('', { metadata: { generateName } }));
  const { code, body } = await create('job-');
  expect([code, body.message]).toEqual([403, 'configmaps "job-" is forbidden: injected by the fault plan']);
  expect((await create('other-')).code).toBe(201);
});

it('errors that the plan and the header inject name the object, also without names in the rule', async () => {
  plan({ match: { verbs: ['create'], resources: ['configmaps'] }, limit: 1, fault: { status: 409 } });
  const messageOf = async (name: string, headers?: Record<string, string>) =>
    (await post(configMap(name), headers)).body.message as string;
  expect(await messageOf('a')).toBe('configmaps "a" already exists');
  expect(await messageOf('b', { 'Keelson-Fault': 'status: 409' })).toBe('configmaps "b" already exists');
  expect(await messageOf('c', { 'Keelson-Fault': 'status: 404' })).toBe('configmaps "c" not found');
  expect([await exists('a'), await exists('b'), await exists('c')]).toEqual([false, false, false]);
  expect(counts()).toEqual([[3, 1]]);
});

it('a lost answer, a latency and a status are joined in the order of the rules', async () => {
  plan(
    { match: creates(['lost']), fault: { dropAnswer: true } },
    { match: { verbs: ['create'] }, fault: { latency: '200ms' } },
    { match: creates(['*-both']), fault: { status: 410 } },
    { match: creates(['x-both']), fault: { status: 503 } },
    { match: { names: ['x-*'] }, fault: { status: 410 } },
  );
  await expect(post(configMap('lost'))).rejects.toThrow();
  const beginMs = performance.now();
  expect((await post(configMap('x-both'))).code).toBe(503);
  expect(performance.now() - beginMs).toBeGreaterThanOrEqual(199);
  // `*` stands for any rest at the end of a text only.
  expect(counts()).toEqual([
    [1, 1],
    [2, 2],
    [0, 0],
    [1, 1],
    [1, 1],
  ]);
  plan();
  expect(await exists('lost')).toBe(true);
});

it('equal seeds choose equal creates, whatever other names come between them', async () => {
  const chosen = async (prefix: string, others: boolean) => {
    plan({ match: creates([`${prefix}*`]), probability: 0.5, fault: { status: 500 } });
    const codes: number[] = [];
    for (let n = 0; n < 16; n++) {
      if (others) await post(configMap(`between-${n}`));
      codes.push((await post(configMap(`${prefix}${n}`))).code);
    }
    return codes;
  };
  const first = await chosen('one-', false);
  expect(new Set(first)).toEqual(new Set([201, 500]));
  expect(await chosen('two-', true)).toEqual(first);
});

it.each([
  ['null', 'null'],
  ['a list', '[]'],
  ['a text', '"web"'],
  ['no metadata', '{"metadata": null}'],
  ['a list as metadata', '{"metadata": [{"name": "web"}]}'],
  ['an object as name', '{"metadata": {"name": {"name": "web"}}}'],
  ['a number as name', '{"metadata": {"name": 7}}'],
  ['__proto__ in metadata', '{"metadata": {"__proto__": {"name": "web"}}}'],
  ['__proto__', '{"__proto__": {"metadata": {"name": "web"}}}'],
  ['an open brace', '{"metadata": {"name": "web"'],
  ['a name of 200 kB', `{"metadata": {"name": "${'w'.repeat(200_000)}"}}`],
])('a create with %s matches no name and is refused as usual', async (_case, body) => {
  plan({ match: creates(['web', 'constructor', 'toString']), fault: { status: 503 } });
  const refused = await post(body, { 'content-type': json });
  expect(counts()[0]![1]).toBe(0);
  plan();
  const usual = await post(body, { 'content-type': json });
  expect([refused.code, refused.body.message]).toEqual([usual.code, usual.body.message]);
  expect([400, 422]).toContain(usual.code);
});

it('faults that need no name come before the body is read', async () => {
  plan({ match: { verbs: ['create'] }, fault: { status: 503 } });
  expect((await post('{', { 'content-type': json })).code).toBe(503);
  expect((await post('x', { 'content-type': 'text/html' })).code).toBe(503);
  plan({ match: { verbs: ['create'] }, fault: { status: 409 } });
  expect((await post('x', { 'content-type': 'text/html' })).code).toBe(415);
  expect(counts()).toEqual([[0, 0]]);
});

it('a review has no name, and is matched by rules without names', async () => {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
  };
  plan({ match: { names: ['a*'] }, fault: { status: 503 } });
  expect((await admin.post(path, body)).code).toBe(201);
  plan({ match: { verbs: ['create'] }, fault: { status: 403 } });
  expect((await admin.post(path, body)).code).toBe(403);
});

it('a user without the permission to create gets 403 and is not counted', async () => {
  plan({ match: creates(['web']), fault: { status: 409 } });
  const { code, body } = await post(configMap('web'), { 'Impersonate-User': 'eve' });
  expect([code, body.message]).toEqual([403, expect.stringMatching(/User "eve" cannot create resource/)]);
  expect(counts()).toEqual([[0, 0]]);
});

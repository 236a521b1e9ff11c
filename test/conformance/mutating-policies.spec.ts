import type { KubeObject } from '../../src/machinery/kube-object.js';
import { eventually } from '../harness/eventually.js';
import type { Answer, HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const registration = '/apis/admissionregistration.k8s.io/v1';
const namespace = '/api/v1/namespaces/default';
const configMaps = `${namespace}/configmaps`;
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const coreRule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] };

let server: TestServer;
let admin: HttpClient;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  ({ admin } = server);
});
afterAll(() => server.stop());

let count = 0;
const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

/** Creates a policy for objects with a label, waits until it is in force, and returns the labels. */
async function inForce(mutations: readonly object[], spec: object = {}, rule: object = coreRule) {
  const name = `m${count++}`;
  const labels = { policy: name };
  const matchConstraints = { resourceRules: [rule], objectSelector: { matchLabels: labels } };
  await create('mutatingadmissionpolicies', name, {
    matchConstraints,
    reinvocationPolicy: 'Never',
    mutations,
    ...spec,
  });
  await create('mutatingadmissionpolicybindings', name, { policyName: name });
  // Caches apply changes in order: the policies above are in force when this one is.
  const sentinel = `s${name}`;
  await create('mutatingadmissionpolicies', sentinel, {
    matchConstraints: { resourceRules: [coreRule], objectSelector: { matchLabels: { policy: sentinel } } },
    reinvocationPolicy: 'Never',
    mutations: [apply('Object{data: {"seen": "yes"}}')],
  });
  await create('mutatingadmissionpolicybindings', sentinel, { policyName: sentinel });
  const probe = () => post({ labels: { policy: sentinel } });
  await eventually('the policies are in force', async () => dataOf(await probe())['seen'] === 'yes');
  return labels;
}

async function create(plural: string, name: string, spec: object): Promise<void> {
  const { code, text } = await admin.post(`${registration}/${plural}`, { metadata: { name }, spec });
  expect([code, code === 201 ? '' : text]).toEqual([201, '']);
}

const dataOf = ({ body }: Answer) => ((body as { data?: object }).data ?? {}) as Record<string, unknown>;
const post = (metadata: object, data: object = {}) =>
  admin.post(`${configMaps}?dryRun=All`, { metadata: { name: 'x', ...metadata }, data });

it.each<[string, readonly object[], object]>([
  ['an apply configuration', [apply('Object{data: {"b": object.data.a + "2"}}')], { a: '1', b: '12' }],
  ['a conditional field', [apply('Object{data: {?"b": object.data.?none, "c": object.data.a}}')], { a: '1', c: '1' }],
  [
    'two mutations',
    [apply('Object{data: {"b": "2"}}'), patch('[JSONPatch{op: "copy", from: "/data/b", path: "/data/c"}]')],
    { a: '1', b: '2', c: '2' },
  ],
  [
    'a JSON patch with a map',
    [patch('[JSONPatch{op: "replace", path: "/data", value: {"z": string(1 + 1)}}]')],
    { z: '2' },
  ],
  [
    'a JSON patch whose test fails',
    [patch('[JSONPatch{op: "test", path: "/data/a", value: "9"}, JSONPatch{op: "remove", path: "/data/a"}]')],
    { a: '1' },
  ],
  [
    'a key that is a name of JavaScript',
    [apply('Object{data: {"constructor": "c", "toString": "t"}}')],
    { a: '1', constructor: 'c', toString: 't' },
  ],
])('the changes of %s', async (_what, mutations, want) => {
  const labels = await inForce(mutations);
  const answer = await post({ labels }, { a: '1' });
  expect([answer.code, dataOf(answer)]).toEqual([201, want]);
});

it.each<[string, object, number, string]>([
  ['an unknown field', apply('Object{nope: 1}'), 403, '.nope: field not declared in schema'],
  ['a value of another type', apply('Object{data: "x"}'), 403, '.data: expected map, got &{x}'],
  ['an unknown operation', patch('[JSONPatch{op: "x", path: "/data/a"}]'), 403, 'JSON Patch: Unexpected kind: x'],
  [
    'a patch to a wrong type',
    patch('[JSONPatch{op: "add", path: "/data/n", value: 5}]'),
    500,
    'cannot unmarshal number into Go struct field ConfigMap.data of type string',
  ],
  [
    'another namespace',
    patch('[JSONPatch{op: "replace", path: "/metadata/namespace", value: "kube-system"}]'),
    400,
    'the namespace of the provided object does not match',
  ],
  ['no name', patch('[JSONPatch{op: "remove", path: "/metadata/name"}]'), 422, 'name or generateName is required'],
  [
    'another kind',
    patch('[JSONPatch{op: "replace", path: "/kind", value: "Secret"}]'),
    400,
    'this resource takes only kind ConfigMap of v1',
  ],
  [
    'another group',
    patch('[JSONPatch{op: "replace", path: "/apiVersion", value: "apps/v1"}]'),
    400,
    'no kind "ConfigMap" is registered for version "apps/v1"',
  ],
  [
    'a resourceVersion',
    apply('Object{metadata: Object.metadata{resourceVersion: "7"}}'),
    400,
    'resourceVersion should not be set on objects to be created',
  ],
  [
    'a path through __proto__',
    patch('[JSONPatch{op: "add", path: "/__proto__/polluted", value: "yes"}]'),
    403,
    'add operation does not apply',
  ],
  [
    'an invalid result',
    apply('Object{metadata: Object.metadata{labels: {"l": "not valid!"}}}'),
    422,
    'a valid label must be',
  ],
])('a mutation to %s is refused', async (_what, mutation, code, message) => {
  const labels = await inForce([mutation]);
  const answer = await post({ labels }, { a: '1' });
  expect([answer.code, (answer.body as { message: string }).message]).toEqual([code, expect.stringContaining(message)]);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

it('a mutation of an object that POST creates can give it another name, under which it is stored', async () => {
  const labels = await inForce([apply('Object{metadata: Object.metadata{name: "renamed"}}')]);
  const created = await admin.post(configMaps, { metadata: { name: 'requested', labels } });
  expect([created.code, created.body.metadata.name]).toEqual([201, 'renamed']);
  expect((await admin.get(`${configMaps}/requested`)).code).toBe(404);
  expect((await admin.get(`${configMaps}/renamed`)).body.metadata.uid).toBe(created.body.metadata.uid);
  // The name is taken now.
  const again = await admin.post(configMaps, { metadata: { name: 'other', labels } });
  expect([again.code, again.body.message]).toEqual([409, 'configmaps "renamed" already exists']);
  const generated = await admin.post(`${configMaps}?dryRun=All`, { metadata: { generateName: 'g-', labels } });
  expect([generated.code, generated.body.message]).toEqual([409, 'configmaps "renamed" already exists']);
  expect((await admin.delete(`${configMaps}/renamed`)).code).toBe(200);
});

it('a mutation of an update to another name is refused (422)', async () => {
  const labels = await inForce([apply('Object{metadata: Object.metadata{name: "y"}}')]);
  await admin.post(configMaps, { metadata: { name: 'kept-name' } });
  const put = await admin.put(`${configMaps}/kept-name`, { metadata: { name: 'kept-name', labels } });
  const patched = await admin.patch(`${configMaps}/kept-name`, { metadata: { labels } });
  const want = 'ConfigMap "kept-name" is invalid: metadata.name: Invalid value: "y": field is immutable';
  for (const { code, body } of [put, patched]) expect([code, body.message]).toEqual([422, want]);
  const { metadata } = (await admin.get(`${configMaps}/kept-name`)).body;
  expect([metadata.name, metadata.labels]).toEqual(['kept-name', undefined]);
});

it('a mutation of an object that apply creates cannot give it another name', async () => {
  const labels = await inForce([apply('Object{metadata: Object.metadata{name: "y"}}')]);
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', labels } };
  const applied = await admin.patch(`${configMaps}/x?fieldManager=m`, object, 'application/apply-patch+yaml');
  expect(applied.code).toBe(400);
  expect((await admin.get(`${configMaps}/y`)).code).toBe(404);
});

it('a mutation cannot change what the server sets in metadata', async () => {
  const uid = '00000000-0000-0000-0000-000000000000';
  const time = 'timestamp("2001-01-01T00:00:00Z")';
  const fields = `uid: "${uid}", creationTimestamp: ${time}, deletionTimestamp: ${time}, deletionGracePeriodSeconds: 9`;
  const labels = await inForce([apply(`Object{metadata: Object.metadata{${fields}}}`)]);
  const created = await admin.post(configMaps, { metadata: { name: 'own-system-fields', labels } });
  expect(created.code).toBe(201);
  const { metadata } = created.body as KubeObject;
  expect(metadata.uid).not.toBe(uid);
  expect(metadata.creationTimestamp).not.toMatch(/^2001/);
  expect(metadata).not.toHaveProperty('deletionTimestamp');
  expect(metadata).not.toHaveProperty('deletionGracePeriodSeconds');
  const updated = await admin.patch(`${configMaps}/own-system-fields`, { data: { a: '1' } });
  const { uid: same, creationTimestamp } = metadata;
  expect(updated.body).toMatchObject({ metadata: { uid: same, creationTimestamp } });
  expect((updated.body as KubeObject).metadata).not.toHaveProperty('deletionTimestamp');
});

it('a list that names itself many times is refused before it fills the memory', async () => {
  const variables = Array.from({ length: 40 }, (_, index) => ({
    name: `v${index}`,
    expression: index === 0 ? '["x"]' : `[variables.v${index - 1}, variables.v${index - 1}]`,
  }));
  const value = 'JSONPatch{op: "add", path: "/data/b", value: variables.v39}';
  const labels = await inForce([patch(`[${value}]`)], { variables });
  const answer = await post({ labels }, { a: '1' });
  expect([answer.code, answer.text]).toEqual([403, expect.stringContaining('the result has more than 50000 values')]);
});

it('a policy runs again if it may, after the object has changed', async () => {
  const counting = apply('Object{data: {"n": has(object.data) && has(object.data.n) ? object.data.n + "x" : "x"}}');
  const once = await inForce([counting]);
  expect(dataOf(await post({ labels: once }))).toEqual({ n: 'x' });
  const twice = await inForce([counting], { reinvocationPolicy: 'IfNeeded' });
  expect(dataOf(await post({ labels: twice }))).toEqual({ n: 'xx' });
});

it('other plug-ins see the changes: a container that a policy adds gets the token volume and defaults', async () => {
  const side = 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "side", image: "s"}]}}';
  const labels = await inForce([apply(side)], {}, { ...coreRule, resources: ['pods'] });
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  const account = `${namespace}/serviceaccounts/default`;
  await eventually('the service account exists', async () => (await admin.get(account)).code === 200);
  const { code, body } = await admin.post(`${namespace}/pods?dryRun=All`, { metadata: { name: 'p', labels }, spec });
  expect(code).toBe(201);
  const { containers } = (body as { spec: { containers: object[] } }).spec;
  expect(containers).toHaveLength(2);
  const complete = { imagePullPolicy: 'Always', volumeMounts: [expect.objectContaining({ readOnly: true }) as object] };
  expect(containers[1]).toMatchObject({ name: 'side', ...complete });
});

it('a Scale is mutated, and with it the object', async () => {
  const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments/scale'] };
  const labels = await inForce([apply('Object{spec: Object.spec{replicas: 2}}')], {}, rule);
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const deployment = { metadata: { name: 'd', labels }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
  expect((await admin.post(deployments, deployment)).code).toBe(201);
  const scaled = await admin.patch(`${deployments}/d/scale`, { spec: { replicas: 9 } });
  expect([scaled.code, scaled.body]).toEqual([200, expect.objectContaining({ kind: 'Scale', spec: { replicas: 2 } })]);
  expect((await admin.get(`${deployments}/d`)).body).toMatchObject({ spec: { replicas: 2 } });
});

it('updates are mutated, and deletions are not', async () => {
  const labels = await inForce([apply('Object{data: {"was": oldObject == null ? "none" : oldObject.data.a}}')]);
  const created = await admin.post(configMaps, { metadata: { name: 'kept', labels }, data: { a: '1' } });
  expect(dataOf(created)).toEqual({ a: '1', was: 'none' });
  const patched = await admin.patch(`${configMaps}/kept`, { data: { a: '2' } });
  expect(dataOf(patched)).toEqual({ a: '2', was: '1' });
  const configuration = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' }, data: { a: '3' } };
  const path = `${configMaps}/kept?fieldManager=m&force=true`;
  expect(dataOf(await admin.patch(path, configuration, 'application/apply-patch+yaml'))).toEqual({ a: '3', was: '2' });
  expect((await admin.delete(`${configMaps}/kept`)).code).toBe(200);
});

it('request.options has the fieldManager and the fieldValidation that the client sent', async () => {
  const expression = 'Object{data: {"by": request.options.fieldManager, "as": request.options.fieldValidation}}';
  const labels = await inForce([apply(expression)]);
  const answer = await admin.post(`${configMaps}?dryRun=All&fieldManager=me&fieldValidation=Strict`, {
    metadata: { name: 'x', labels },
  });
  expect(dataOf(answer)).toEqual({ by: 'me', as: 'Strict' });
});

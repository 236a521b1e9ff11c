import { registration } from '../harness/admission-webhook.js';
import type { HttpClient } from '../harness/http-client.js';
import { rule, startRbacServer, type RbacUsers } from '../harness/rbac-users.js';
import type { TestServer } from '../harness/servers.js';

/** Attempts of users to configure admission without the rights for it, or to read params through messages of policies. */
let server: TestServer;
let admin: HttpClient;
let users: RbacUsers;
beforeAll(async () => {
  ({ server, admin, users } = await startRbacServer());
  await policy('of-secrets', { apiVersion: 'v1', kind: 'Secret' }, admin);
});
afterAll(() => server.stop());

const all = rule('admissionregistration.k8s.io', '*', 'create', 'get', 'update', 'patch');
const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
const validations = [{ expression: 'false', messageExpression: "'leaked ' + string(params.data.password)" }];
const policy = (name: string, paramKind: object | undefined, client: HttpClient) =>
  client.post(`${registration}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules },
      ...(paramKind ? { paramKind, validations } : { validations: [{ expression: 'true' }] }),
    },
  });
const secretRef = { name: 's', namespace: 'kube-system', parameterNotFoundAction: 'Allow' };
const binding = (name: string, policyName: string, paramRef: object | undefined, client: HttpClient) =>
  client.post(`${registration}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName, validationActions: ['Deny'], ...(paramRef && { paramRef }) },
  });

it.each(
  ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].concat(
    ['validating', 'mutating'].flatMap((kind) => [`${kind}admissionpolicies`, `${kind}admissionpolicybindings`]),
  ),
)('%s are written by users with rights only (403)', async (resource) => {
  const user = await users.with(rule('', '*', '*'));
  const path = `${registration}/${resource}`;
  const attempts = [
    await user.post(path, { metadata: { name: 'x' } }),
    await user.post(`${path}?dryRun=All`, { metadata: { name: 'x' } }),
    await user.patch(`${path}/x?fieldManager=m`, { metadata: { name: 'x' } }, 'application/apply-patch+yaml'),
    await user.delete(path),
  ];
  expect(attempts.map(({ code }) => code)).toEqual([403, 403, 403, 403]);
});

it('a policy requires the right to read all objects of its paramKind (422)', async () => {
  const user = await users.with(all);
  const refused = await policy('own', { apiVersion: 'v1', kind: 'Secret' }, user);
  expect([refused.code, refused.body.message]).toEqual([
    422,
    expect.stringContaining(
      'must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)',
    ),
  ]);
  expect((await policy('plain', undefined, user)).code).toBe(201);
  const path = `${registration}/validatingadmissionpolicies/plain`;
  expect((await user.patch(path, { spec: { paramKind: { apiVersion: 'v1', kind: 'Secret' } } })).code).toBe(422);
  expect((await admin.get(path)).body.spec.paramKind).toBeUndefined();
  const reader = await users.with(all, rule('', 'secrets', 'get'));
  expect((await policy('read', { apiVersion: 'v1', kind: 'Secret' }, reader)).code).toBe(201);
});

it('a binding requires the right to read its params (422)', async () => {
  const user = await users.with(all, rule('', 'configmaps', 'get', 'list'));
  for (const paramRef of [secretRef, { selector: {}, parameterNotFoundAction: 'Allow' }]) {
    const { code, body } = await binding('own', 'of-secrets', paramRef, user);
    expect([code, body.message]).toEqual([
      422,
      expect.stringContaining('permission on the object referenced by paramRef'),
    ]);
  }
  expect((await binding('own', 'no-such-policy', secretRef, user)).code).toBe(422);
  expect((await binding('none', 'of-secrets', undefined, user)).code).toBe(201);
  const path = `${registration}/validatingadmissionpolicybindings/none`;
  expect((await user.patch(path, { spec: { paramRef: secretRef } })).code).toBe(422);
  const getter = await users.with(all, rule('', 'secrets', 'get'));
  expect((await binding('read', 'of-secrets', secretRef, getter)).code).toBe(201);
  expect(
    (await user.patch(`${registration}/validatingadmissionpolicybindings/read`, { metadata: { labels: { a: 'b' } } }))
      .code,
  ).toBe(200);
});

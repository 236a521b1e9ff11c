import type { Answer } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

// CEL in fields of built-in kinds: compiled and refused by the write of the object.
let server: TestServer;
beforeAll(async () => {
  const config = { runtimeConfig: { 'resource.k8s.io/v1beta1': true } };
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
});
afterAll(() => server.stop());

const admission = '/apis/admissionregistration.k8s.io/v1';
const causesOf = ({ body }: Answer): string[] =>
  ((body as { details?: { causes?: { field: string; message: string }[] } }).details?.causes ?? []).map(
    ({ field, message }) => `${field}: ${message}`,
  );
async function create(path: string, object: object): Promise<(number | string)[]> {
  const answer = await server.admin.post(`${path}?dryRun=All`, { metadata: { name: 'expressions' }, ...object });
  return [answer.code, ...causesOf(answer)];
}

const rule = { operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] };
const matchConstraints = { resourceRules: [rule] };

describe.each(['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'])(
  'matchConditions of %s',
  (plural) => {
    const configuration = (...expressions: readonly string[]) => ({
      webhooks: [
        {
          name: 'a.example.com',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { url: 'https://example.com' },
          matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
        },
      ],
    });
    const at = 'webhooks[0].matchConditions[0].expression';

    it.each([
      ['the request', "request.kind.kind == 'Pod' && !('system:nodes' in request.userInfo.groups)"],
      ['the object', 'has(object.metadata.labels) && oldObject == null'],
      ['the authorizer', "authorizer.requestResource.check('update').allowed()"],
      ['the namespace', "namespaceObject.metadata.labels['a'] == 'b'"],
    ])('may read %s', async (_what, expression) => {
      expect(await create(`${admission}/${plural}`, configuration(expression))).toEqual([201]);
    });

    it.each([
      [
        'a syntax error',
        ' object. ',
        `Invalid value: "object.": compilation failed: ERROR: <input>:1:8: Syntax error: no viable alternative at input '.'\n | object.\n | .......^`,
      ],
      ['another result than a bool', '1', 'Invalid value: "1": must evaluate to bool but got int'],
      [
        'params',
        'params.a',
        `Invalid value: "params.a": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.a\n | ^`,
      ],
      ['a blank expression', ' ', 'Required value'],
    ])('with %s are refused', async (_what, expression, cause) => {
      expect(await create(`${admission}/${plural}`, configuration(expression))).toEqual([422, `${at}: ${cause}`]);
    });
  },
);

describe('a ValidatingAdmissionPolicy', () => {
  const policy = (spec: object) =>
    create(`${admission}/validatingadmissionpolicies`, {
      spec: { matchConstraints, validations: [{ expression: 'true' }], ...spec },
    });

  it('whose variables use earlier ones and params is created', async () => {
    expect(
      await policy({
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        matchConditions: [{ name: 'c', expression: 'params != null' }],
        variables: [
          { name: 'limit', expression: 'int(params.data.limit)' },
          { name: 'half', expression: 'variables.limit / 2' },
        ],
        validations: [
          {
            expression: 'object.spec.replicas <= variables.half',
            messageExpression: "'at most ' + string(variables.half)",
          },
        ],
        auditAnnotations: [{ key: 'half', valueExpression: "'half: ' + string(variables.half)" }],
      }),
    ).toEqual([201]);
  });

  it('with a wrong expression in every field is refused with all of them', async () => {
    const causes = await policy({
      matchConditions: [{ name: 'c', expression: 'nope' }],
      variables: [
        { name: 'a', expression: 'variables.b' },
        { name: 'b', expression: "'x' + 1" },
      ],
      validations: [{ expression: 'variables.b', messageExpression: 'authorizer' }],
      auditAnnotations: [{ key: 'k', valueExpression: '1' }],
    });
    expect(causes.map((cause) => String(cause).split('\n')[0])).toEqual([
      '422',
      `spec.matchConditions[0].expression: Invalid value: "nope": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')`,
      `spec.variables[0].expression: Invalid value: "variables.b": compilation failed: ERROR: <input>:1:10: undefined field 'b'`,
      `spec.variables[1].expression: Invalid value: "'x' + 1": compilation failed: ERROR: <input>:1:5: found no matching overload for '_+_' applied to '(string, int)'`,
      'spec.validations[0].expression: Invalid value: "variables.b": must evaluate to bool but got dyn',
      `spec.validations[0].messageExpression: Invalid value: "authorizer": compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')`,
      'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
    ]);
  });

  it('with a constant that has no value is refused as an internal error', async () => {
    const [code, cause] = await policy({ validations: [{ expression: "int('a') == 1" }] });
    expect(code).toBe(422);
    expect(cause).toMatch(/^spec\.validations\[0\]\.expression: Internal error: program instantiation failed: /);
  });

  it('keeps its matchConditions without their being compiled again, unless its paramKind changes', async () => {
    const path = `${admission}/validatingadmissionpolicies`;
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints,
      matchConditions: [{ name: 'c', expression: "params.data.a == 'b'" }],
      validations: [{ expression: 'true' }],
    };
    expect((await server.admin.post(path, { metadata: { name: 'kept' }, spec })).code).toBe(201);
    expect((await server.admin.patch(`${path}/kept`, { spec: { failurePolicy: 'Ignore' } })).code).toBe(200);
    expect(causesOf(await server.admin.patch(`${path}/kept`, { spec: { paramKind: null } }))).toEqual([
      expect.stringContaining("undeclared reference to 'params'"),
    ]);
    expect((await server.admin.delete(`${path}/kept`)).code).toBe(200);
  });
});

describe('a MutatingAdmissionPolicy', () => {
  const mutating = (...mutations: readonly object[]) =>
    create(`${admission}/mutatingadmissionpolicies`, {
      spec: { matchConstraints, reinvocationPolicy: 'Never', mutations },
    });
  const applying = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
  const patching = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

  it('with an apply configuration and a JSON patch is created', async () => {
    const add = "JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'c'}";
    expect(
      await mutating(
        applying("Object{metadata: Object.metadata{labels: {'a': 'b'}}}"),
        patching(
          `has(object.metadata.labels) ? [${add}] : [JSONPatch{op: 'add', path: '/metadata/labels', value: {}}]`,
        ),
      ),
    ).toEqual([201]);
  });

  it('with another result, an unknown type or an unknown field is refused', async () => {
    const causes = await mutating(
      applying('object'),
      applying('Nope{}'),
      patching('[]'),
      patching('[JSONPatch{a: 1}]'),
    );
    const at = 'spec.mutations';
    expect(causes.map((cause) => String(cause).split('\n')[0])).toEqual([
      '422',
      `${at}[0].applyConfiguration.expression: Invalid value: "object": must evaluate to Object but got dyn`,
      `${at}[1].applyConfiguration.expression: Invalid value: "Nope{}": compilation failed: ERROR: <input>:1:5: undeclared reference to 'Nope' (in container '')`,
      `${at}[2].jsonPatch.expression: Invalid value: "[]": must evaluate to list(JSONPatch) but got list(dyn)`,
      `${at}[3].jsonPatch.expression: Invalid value: "[JSONPatch{a: 1}]": compilation failed: ERROR: <input>:1:13: expected type of field 'a' is '' but provided type is 'int'`,
    ]);
  });
});

describe('CEL selectors of devices', () => {
  const selectors = (expression: string) => [{ cel: { expression } }];
  const exactly = (expression: string) => ({
    name: 'r',
    exactly: { deviceClassName: 'c', selectors: selectors(expression) },
  });
  const claims = '/namespaces/default/resourceclaims';
  const kinds: readonly (readonly [string, string, (expression: string) => object, string])[] = [
    ['DeviceClass', 'v1/deviceclasses', (expression) => ({ spec: { selectors: selectors(expression) } }), 'spec'],
    [
      'ResourceClaim',
      `v1${claims}`,
      (expression) => ({ spec: { devices: { requests: [exactly(expression)] } } }),
      'spec.devices.requests[0].exactly',
    ],
    [
      'ResourceClaim with alternatives',
      `v1${claims}`,
      (expression) => ({
        spec: {
          devices: {
            requests: [
              { name: 'r', firstAvailable: [{ name: 'a', deviceClassName: 'c', selectors: selectors(expression) }] },
            ],
          },
        },
      }),
      'spec.devices.requests[0].firstAvailable[0]',
    ],
    [
      'ResourceClaimTemplate',
      'v1/namespaces/default/resourceclaimtemplates',
      (expression) => ({ spec: { spec: { devices: { requests: [exactly(expression)] } } } }),
      'spec.spec.devices.requests[0].exactly',
    ],
    [
      'ResourceClaim of v1beta1',
      `v1beta1${claims}`,
      (expression) => ({
        spec: { devices: { requests: [{ name: 'r', deviceClassName: 'c', selectors: selectors(expression) }] } },
      }),
      'spec.devices.requests[0].exactly',
    ],
  ];

  it.each(kinds)('of a %s are compiled', async (_kind, path, objectWith, at) => {
    const answer = (expression: string) => create(`/apis/resource.k8s.io/${path}`, objectWith(expression));
    expect(await answer("device.driver == 'd' && device.attributes['d'].model == 'm'")).toEqual([201]);
    expect(await answer("device.capacity['d'].memory.compareTo(quantity('1Gi')) >= 0")).toEqual([201]);
    expect(await answer('device.nope')).toEqual([
      422,
      `${at}.selectors[0].cel.expression: Invalid value: "device.nope": compilation failed: ERROR: <input>:1:7: undefined field 'nope'\n | device.nope\n | ......^`,
    ]);
    expect(await answer("'a'")).toEqual([
      422,
      expect.stringContaining('must evaluate to bool or the unknown type, not string'),
    ]);
    const costly = `${'device.attributes.all(a, '.repeat(4)}true${')'.repeat(4)}`;
    expect(await answer(costly)).toEqual([422, expect.stringContaining('Forbidden: too complex, exceeds cost limit')]);
    expect(await answer(`true${' '.repeat(10_240)}`)).toEqual([422, expect.stringContaining('Too long')]);
  });

  it('of an unchanged claim are not compiled again, and a changed spec is immutable', async () => {
    const path = `/apis/resource.k8s.io/v1${claims}`;
    const spec = { devices: { requests: [exactly('true')] } };
    expect((await server.admin.post(path, { metadata: { name: 'kept' }, spec })).code).toBe(201);
    expect((await server.admin.patch(`${path}/kept`, { metadata: { labels: { a: 'b' } } })).code).toBe(200);
    const changed = await server.admin.patch(`${path}/kept`, { spec: { devices: { requests: [exactly('nope')] } } });
    expect(causesOf(changed)).toEqual([expect.stringMatching(/^spec: Invalid value: .*field is immutable$/)]);
  });
});

import { customResourceDefinition, definitions } from '../harness/custom-definitions.js';
import type { Answer } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until } from '../harness/until.js';

// x-kubernetes-validations of CustomResourceDefinitions: refused at definition time, evaluated by every write.
const group = 'rules.example.com';

let server: TestServer;
beforeAll(async () => void (server = await startTestServer({ store: 'memory', naming: 'kubernetes' })));
afterAll(() => server.stop());

const statusSchema = { type: 'object', properties: { count: { type: 'integer' } } };
const definition = (plural: string, spec: object, more: object = {}) =>
  customResourceDefinition({
    group,
    plural,
    schema: { type: 'object', properties: { spec, status: statusSchema }, ...more },
    version: { subresources: { status: {} } },
  });

const established = (plural: string) =>
  until(server.admin, definitions, `${plural}.${group}`, (object) =>
    ((object?.['status'] as { conditions?: { type: string; status: string }[] } | undefined)?.conditions ?? []).some(
      ({ type, status }) => type === 'Established' && status === 'True',
    ),
  );

const causesOf = ({ body }: Answer): string[] =>
  ((body as { details?: { causes?: { field: string; message: string }[] } }).details?.causes ?? []).map(
    ({ field, message }) => `${field}: ${message}`,
  );

describe('a definition', () => {
  const at = 'spec.validation.openAPIV3Schema.properties[spec]';
  const refused = async (spec: object, more?: object) => {
    const answer = await server.admin.post(`${definitions}?dryRun=All`, definition('refused', spec, more));
    return [answer.code, ...causesOf(answer)];
  };
  const integer = (rule: object) => ({ type: 'integer', 'x-kubernetes-validations': [rule] });
  const objectIn = (rule: string) =>
    `${at}.x-kubernetes-validations[0].rule: Invalid value: {"Rule":${JSON.stringify(rule).replace('>', '\\u003e')},"Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}`;

  it('with valid rules is created', async () => {
    expect(await refused(integer({ rule: 'self > 0', messageExpression: "self < 0 ? 'negative' : 'zero'" }))).toEqual([
      201,
    ]);
  });

  it('with a syntax error is refused with its line and column', async () => {
    const [code, cause] = await refused(integer({ rule: 'self >' }));
    expect(code).toBe(422);
    expect(cause).toContain(`${objectIn('self >')}: compilation failed: ERROR: <input>:1:7: Syntax error: mismatched`);
  });

  it.each([
    ['an unknown variable', 'nope == 1', "ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')"],
    [
      'another type',
      "self == 'a'",
      "ERROR: <input>:1:6: found no matching overload for '_==_' applied to '(int, string)'",
    ],
  ])('that uses %s is refused', async (_title, rule, message) => {
    expect((await refused(integer({ rule })))[1]).toContain(`compilation failed: ${message}`);
  });

  it('that uses an unknown field is refused', async () => {
    const spec = { type: 'object', properties: { a: { type: 'integer' } } };
    const [, cause] = await refused({ ...spec, 'x-kubernetes-validations': [{ rule: 'self.b == 1' }] });
    expect(cause).toContain("undefined field 'b'");
  });

  it('with a rule that is no condition is refused', async () => {
    expect((await refused(integer({ rule: 'self + 1' })))[1]).toBe(
      `${objectIn('self + 1')}: cel expression must evaluate to a bool`,
    );
  });

  it('with a messageExpression that returns no text is refused', async () => {
    const [, cause] = await refused(integer({ rule: 'self > 0', messageExpression: 'self' }));
    expect(cause).toMatch(/^.*messageExpression: Invalid value: .*: messageExpression must evaluate to a string$/);
  });

  it('with rules that may cost too much is refused', async () => {
    const items = { type: 'array', items: { type: 'string' } };
    const rule = 'self.all(x, self.all(y, x == y))';
    const tooMuch = 'exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems';
    expect(await refused({ ...items, 'x-kubernetes-validations': [{ rule }] })).toEqual([
      422,
      expect.stringContaining(`${at}.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost ${tooMuch}`),
      `${at}.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
      expect.stringContaining(
        `spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema ${tooMuch}`,
      ),
    ]);
  });

  it('that compares items of an atomic list with old ones is refused', async () => {
    const spec = { type: 'array', maxItems: 5, items: integer({ rule: 'self >= oldSelf' }) };
    expect(await refused(spec)).toEqual([
      422,
      `${at}.items.x-kubernetes-validations[0].rule: Invalid value: "self >= oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${at}`,
    ]);
  });

  it('with a default that breaks its rule is refused', async () => {
    expect(await refused({ ...integer({ rule: 'self > 0' }), default: 0 })).toEqual([
      422,
      `${at}.default: Invalid value: 0: failed rule: self > 0`,
    ]);
  });
});

describe('an object', () => {
  const rule = (text: string, more: object = {}) => ({ rule: text, ...more });
  const spec = {
    type: 'object',
    'x-kubernetes-validations': [
      rule('!has(self.min) || self.min <= self.max', { fieldPath: '.min', message: 'min is at most max' }),
    ],
    properties: {
      min: { type: 'integer' },
      max: { type: 'integer', 'x-kubernetes-validations': [rule('self >= 0')] },
      name: {
        type: 'string',
        maxLength: 20,
        'x-kubernetes-validations': [
          rule('self == oldSelf', { message: 'is immutable', reason: 'FieldValueForbidden' }),
        ],
      },
      once: {
        type: 'string',
        maxLength: 20,
        'x-kubernetes-validations': [
          rule("oldSelf.hasValue() || self.startsWith('new')", {
            optionalOldSelf: true,
            messageExpression: "'not ' + self",
          }),
        ],
      },
      ports: {
        type: 'array',
        maxItems: 20,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['id'],
        items: {
          type: 'object',
          required: ['id'],
          properties: { id: { type: 'integer' }, weight: { type: 'integer' } },
          'x-kubernetes-validations': [rule('!has(oldSelf.weight) || self.weight >= oldSelf.weight')],
        },
      },
      levels: {
        type: 'object',
        maxProperties: 20,
        additionalProperties: {
          type: 'integer',
          'x-kubernetes-validations': [rule('self % 2 == 0', { message: 'is odd' })],
        },
      },
      text: { type: 'string', maxLength: 100_000, 'x-kubernetes-validations': [rule("self.matches('^(a|b)*$')")] },
      either: { 'x-kubernetes-int-or-string': true, 'x-kubernetes-validations': [rule("self == 'x' || self > 1")] },
    },
  };
  const path = `/apis/${group}/v1/namespaces/default/ruled`;
  const object = (name: string, content: object) => ({
    apiVersion: `${group}/v1`,
    kind: 'Ruled',
    metadata: { name },
    spec: content,
  });

  beforeAll(async () => {
    const rootRule = {
      'x-kubernetes-validations': [
        rule("!self.metadata.name.startsWith('bad')"),
        rule('!has(self.status) || !has(self.status.count) || self.status.count <= self.spec.max'),
      ],
    };
    expect((await server.admin.post(definitions, definition('ruled', spec, rootRule))).code).toBe(201);
    await established('ruled');
  });

  it.each<[string, object, string[]]>([
    ['that follows all rules', { min: 1, max: 2, levels: { a: 2 } }, []],
    ['with one wrong field', { max: -1 }, ['spec.max: Invalid value: -1: failed rule: self >= 0']],
    ['with a rule about two fields', { min: 3, max: 2 }, ['spec.min: Invalid value: min is at most max']],
    [
      'with a wrong value of a map',
      { max: 1, levels: { a: 2, 'b.c/d': 3 } },
      ['spec.levels[b.c/d]: Invalid value: 3: is odd'],
    ],
    [
      'with an initial value that an optionalOldSelf rule refuses',
      { max: 1, once: 'old' },
      ['spec.once: Invalid value: "old": not old'],
    ],
    [
      'with an int-or-string of a wrong type',
      { max: 1, either: 'y' },
      [
        "spec.either: Invalid value: \"\": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self == 'x' || self > 1",
      ],
    ],
    [
      'with a wrong type: rules are not evaluated',
      { max: 'x', levels: { a: 1 } },
      [
        'spec.max: Invalid value: "string": spec.max in body must be of type integer: "string"',
        '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
      ],
    ],
  ])('%s is created or refused (%j)', async (_title, content, causes) => {
    const answer = await server.admin.post(`${path}?dryRun=All`, object('one', content));
    expect(causesOf(answer)).toEqual(causes);
    expect(answer.code).toBe(causes.length === 0 ? 201 : 422);
  });

  it('is refused by a rule about metadata.name', async () => {
    const answer = await server.admin.post(path, object('bad-one', { max: 1 }));
    expect(causesOf(answer)).toEqual(["<nil>: Invalid value: failed rule: !self.metadata.name.startsWith('bad')"]);
  });

  describe('that exists', () => {
    const change = (body: object, to = `${path}/changed`) => server.admin.patch(to, body);
    beforeAll(async () => {
      const content = {
        max: 5,
        name: 'a',
        ports: [
          { id: 1, weight: 3 },
          { id: 2, weight: 3 },
        ],
      };
      expect((await server.admin.post(path, object('changed', content))).code).toBe(201);
    });

    it.each([
      ['merge patch', () => change({ spec: { name: 'b' } })],
      [
        'PUT',
        async () => {
          const { body } = await server.admin.get(`${path}/changed`);
          const stored = body as { spec: object };
          return server.admin.put(`${path}/changed`, { ...stored, spec: { ...stored.spec, name: 'b' } });
        },
      ],
    ])('is not changed against a transition rule by a %s', async (_title, write) => {
      expect(causesOf(await write())).toEqual(['spec.name: Forbidden: is immutable']);
    });

    it('compares items of a keyed list with the old ones of the same keys', async () => {
      const answer = await change({
        spec: {
          ports: [
            { id: 2, weight: 1 },
            { id: 1, weight: 4 },
          ],
        },
      });
      expect(causesOf(answer)).toEqual([
        'spec.ports[0]: Invalid value: failed rule: !has(oldSelf.weight) || self.weight >= oldSelf.weight',
      ]);
      expect((await change({ spec: { ports: [{ id: 2, weight: 4 }, { id: 3 }] } })).code).toBe(200);
    });

    it('has its status validated against its spec', async () => {
      expect((await change({ status: { count: 5 } }, `${path}/changed/status`)).code).toBe(200);
      const answer = await change({ status: { count: 6 } }, `${path}/changed/status`);
      expect(causesOf(answer)).toEqual([
        expect.stringMatching(/^<nil>: Invalid value: failed rule: !has\(self\.status\)/),
      ]);
    });
  });

  it('keeps what broke a rule before the rule was added, with a warning, until it changes', async () => {
    const plural = 'ratcheted';
    const at = `/apis/${group}/v1/namespaces/default/${plural}`;
    const schema = (rules: object[]) => ({
      type: 'object',
      properties: { a: { type: 'integer', 'x-kubernetes-validations': rules }, b: { type: 'integer' } },
    });
    expect((await server.admin.post(definitions, definition(plural, schema([])))).code).toBe(201);
    await established(plural);
    const one = { apiVersion: `${group}/v1`, kind: 'Ratcheted', metadata: { name: 'one' }, spec: { a: -1 } };
    expect((await server.admin.post(at, one)).code).toBe(201);
    const { spec: newSpec } = definition(plural, schema([rule('self > 0')]));
    expect(
      (await server.admin.patch(`${definitions}/${plural}.${group}`, { spec: { versions: newSpec.versions } })).code,
    ).toBe(200);
    await until(server.admin, definitions, `${plural}.${group}`, (object) => object?.metadata.generation === 2);
    const kept = await server.admin.patch(`${at}/one`, { spec: { b: 1 } });
    expect(kept.code).toBe(200);
    expect(kept.headers['warning']).toContain('spec.a: Invalid value: -1: failed rule: self > 0');
    expect(causesOf(await server.admin.patch(`${at}/one`, { spec: { a: -2 } }))).toEqual([
      'spec.a: Invalid value: -2: failed rule: self > 0',
    ]);
  });
});

it('an expression that costs too much is stopped, and the object is refused', async () => {
  const plural = 'costly';
  const at = `/apis/${group}/v1/namespaces/default/${plural}`;
  const spec = {
    type: 'object',
    properties: {
      l: {
        type: 'array',
        maxItems: 1000,
        items: { type: 'integer' },
        'x-kubernetes-validations': [{ rule: 'self.all(x, self.exists(y, y == x))' }],
      },
    },
  };
  expect((await server.admin.post(definitions, definition(plural, spec))).code).toBe(201);
  await established(plural);
  const l = Array.from({ length: 1000 }, (_, index) => index);
  const answer = await server.admin.post(at, {
    apiVersion: `${group}/v1`,
    kind: 'Costly',
    metadata: { name: 'one' },
    spec: { l },
  });
  expect(causesOf(answer)).toEqual([
    expect.stringContaining(
      "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.all(",
    ),
  ]);
});

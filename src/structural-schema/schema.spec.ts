import { path } from '../machinery/field-error.js';
import { texts } from '../../test/harness/strategies.js';
import { strict, type SchemaLeniency } from './leniency.js';
import { atOnce } from '../std/steps.js';
import { validateSchema } from './schema.validation.js';

const check = (schema: object, { isStatusApart = false, leniency = strict } = {}) =>
  texts(atOnce(validateSchema(schema as Record<string, unknown>, path('s'), { isStatusApart, leniency })));
const spec = (schema: object) => ({ type: 'object', properties: { spec: schema } });
const containing = (them: readonly string[]) => them.map((text) => expect.stringContaining(text) as string);
const at = 's.properties[spec]';
const item = { type: 'object', properties: { k: { type: 'string' } } };
const map = (rest: object) => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['k'],
  items: { ...item, required: ['k'] },
  ...rest,
});

it.each<[string, object, string[]]>([
  ['nothing', {}, ['s.type: Required value: must not be empty at the root']],
  ['type string', { type: 'string' }, ['s.type: Invalid value: "string": must be object at the root']],
  ['nullable: true', { type: 'object', nullable: true }, ['s.nullable: Forbidden']],
  [
    'additionalProperties',
    { type: 'object', additionalProperties: { type: 'string' } },
    ['must not be used at the root'],
  ],
  [
    'a narrowed metadata.name',
    { type: 'object', properties: { metadata: { type: 'object', properties: { name: { type: 'string' } } } } },
    [],
  ],
  [
    'narrowed metadata.labels',
    { type: 'object', properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } },
    ['must not specify anything other than name and generateName'],
  ],
  [
    'a default for kind',
    { type: 'object', properties: { kind: { type: 'string', default: 'X' } } },
    ['in top-level kind'],
  ],
])('validates a root schema with %s', (_what, schema, want) => expect(check(schema)).toEqual(containing(want)));

it.each<[string, object, string[]]>([
  ['no type', {}, [`${at}.type: Required value: must not be empty for specified object fields`]],
  ['anything', { 'x-kubernetes-preserve-unknown-fields': true }, []],
  ['a number or text', { 'x-kubernetes-int-or-string': true }, []],
  [
    'int-or-string and its usual anyOf',
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    [],
  ],
  ['an unknown type', { type: 'text' }, [`${at}.type: Unsupported value: "text"`]],
  ['an array without items', { type: 'array' }, [`${at}.items: Required value: must be specified`]],
  [
    'items as a list',
    { type: 'array', items: [{ type: 'string' }] },
    ['items must be a schema object and not an array'],
  ],
  ['a $ref', { $ref: '#/x' }, [`${at}.$ref: Forbidden: $ref is not supported`]],
  ['unique items', { type: 'array', uniqueItems: true, items: { type: 'string' } }, ['becomes quadratic']],
  [
    'properties and additionalProperties',
    { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } },
    ['additionalProperties and properties are mutual exclusive'],
  ],
  ['additionalProperties: false', { type: 'object', additionalProperties: false }, []],
  ['a type in anyOf', { type: 'object', anyOf: [{ type: 'object' }] }, [`${at}.anyOf[0].type: Forbidden`]],
  [
    'a default in anyOf',
    { type: 'object', properties: { a: { type: 'string' } }, anyOf: [{ properties: { a: { default: 'x' } } }] },
    [`${at}.anyOf[0].properties[a].default: Forbidden: must be undefined`],
  ],
  ['a type in not', { type: 'string', not: { type: 'integer' } }, [`${at}.not.type: Forbidden`]],
  ['an invalid pattern', { type: 'string', pattern: '(' }, ['error parsing regexp: missing closing ): `(`']],
  [
    'x-kubernetes-preserve-unknown-fields: false',
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
    ['must be true or und'],
  ],
  [
    'an embedded resource without fields',
    { type: 'object', 'x-kubernetes-embedded-resource': true },
    ['must not be empty if x-kubernetes-emb'],
  ],
])('validates a field with %s', (_what, schema, want) => expect(check(spec(schema))).toEqual(containing(want)));

it.each<[string, object, string[]]>([
  ['a list map', map({}), []],
  [
    'a list map without keys',
    map({ 'x-kubernetes-list-map-keys': [] }),
    ['must not be empty if x-kubernetes-list-type is map'],
  ],
  [
    'keys of a list that is not a map',
    map({ 'x-kubernetes-list-type': undefined }),
    ['must be map if x-kubernetes-list-map-keys'],
  ],
  [
    'keys that are not properties',
    map({ 'x-kubernetes-list-map-keys': ['z'] }),
    ['entries must all be names of item properties'],
  ],
  [
    'keys that are neither required nor have defaults',
    map({ items: item }),
    [`${at}.items.properties[k].default: Required value`],
  ],
  ['nullable items', map({ items: { ...item, required: ['k'], nullable: true } }), ['cannot be nullable']],
  [
    'an unknown list type',
    { type: 'array', 'x-kubernetes-list-type': 'bag', items: { type: 'string' } },
    ['Unsupported value: "bag"'],
  ],
  [
    'an unknown map type',
    { type: 'object', 'x-kubernetes-map-type': 'x' },
    ['x-kubernetes-map-type: Unsupported value: "x"'],
  ],
  ['a set of strings', { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } }, []],
  [
    'a set of granular objects',
    { type: 'array', 'x-kubernetes-list-type': 'set', items: item },
    ['must be atomic as item of a list'],
  ],
])('validates the list type of %s', (_what, schema, want) => expect(check(spec(schema))).toEqual(containing(want)));

const ruled = (rule: object) => spec({ type: 'object', 'x-kubernetes-validations': [{ rule: 'true', ...rule }] });
it.each<[string, object, string[]]>([
  ['valid', {}, []],
  ['without a rule', { rule: ' ' }, ['rule is not specified']],
  ['with an unknown reason', { reason: 'X' }, ['reason: Unsupported value: "X"']],
  ['with a fieldPath that does not exist', { fieldPath: '.zz' }, ['must be a valid path']],
  [
    'with line breaks and no message',
    { rule: 'true\n' + '&& true' },
    ['message must be specified if rule contains line breaks'],
  ],
])('validates an x-kubernetes-validations entry: %s', (_what, rule, want) =>
  expect(check(ruled(rule))).toEqual(containing(want)),
);

it.each<[string, object, string[]]>([
  ['fits', { type: 'string', default: 'a' }, []],
  [
    'is of a wrong type',
    { type: 'string', default: 5 },
    ['Invalid value: "integer":  in body must be of type string: "integer"'],
  ],
  ['has unknown fields', { type: 'object', default: { zz: 1 } }, ['{"zz":1}: must not have unknown fields']],
  [
    'is not in the enum',
    { type: 'string', enum: ['a'], default: 'b' },
    ['Unsupported value: "b": supported values: "a"'],
  ],
  ['is inside additionalProperties', { type: 'object', additionalProperties: { type: 'integer', default: 'x' } }, []],
])('validates a default that %s', (_what, schema, want) => expect(check(spec(schema))).toEqual(containing(want)));

it('a field that is defined only in anyOf is refused', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' } },
    anyOf: [{ required: ['a'], properties: { b: {} } }],
  };
  expect(check(schema)).toEqual(['s.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]']);
});

it('with a status subresource, the root schema may have few fields', () => {
  expect(check({ type: 'object', maxProperties: 3 }, { isStatusApart: true })).toEqual(
    containing(['fields are allowed at the root of the schema if the status subresource is enabled']),
  );
  expect(check(spec({ type: 'object' }), { isStatusApart: true })).toEqual([]);
});

it.each<[keyof SchemaLeniency, object]>([
  ['unknownTypes', spec({ type: 'text' })],
  ['unprunedDefaults', spec({ type: 'object', default: { zz: 1 } })],
  ['granularSets', spec({ type: 'array', 'x-kubernetes-list-type': 'set', items: item })],
  ['optionalKeys', spec(map({ items: item }))],
])('%s: an update may break the rule if the stored definition does', (rule, schema) => {
  expect(check(schema)).toHaveLength(1);
  expect(check(schema, { leniency: { ...strict, [rule]: true } })).toEqual([]);
});

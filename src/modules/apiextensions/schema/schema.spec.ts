import { path } from '../../../machinery/field-error.js';
import { texts } from '../../../../test/harness/strategies.js';
import { strict, type SchemaLeniency } from './leniency.js';
import { atOnce } from '../../../std/steps.js';
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
  ['a text', { type: 'string' }, ['s.type: Invalid value: "string": must be object at the root']],
  ['a null', { type: 'object', nullable: true }, ['s.nullable: Forbidden']],
  ['a map', { type: 'object', additionalProperties: { type: 'string' } }, ['must not be used at the root']],
  [
    'its name narrowed',
    { type: 'object', properties: { metadata: { type: 'object', properties: { name: { type: 'string' } } } } },
    [],
  ],
  [
    'its labels narrowed',
    { type: 'object', properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } },
    ['must not specify anything other than name and generateName'],
  ],
  ['a default kind', { type: 'object', properties: { kind: { type: 'string', default: 'X' } } }, ['in top-level kind']],
])('the whole object as %s', (_what, schema, want) => expect(check(schema)).toEqual(containing(want)));

it.each<[string, object, string[]]>([
  ['no type', {}, [`${at}.type: Required value: must not be empty for specified object fields`]],
  ['anything', { 'x-kubernetes-preserve-unknown-fields': true }, []],
  ['a number or text', { 'x-kubernetes-int-or-string': true }, []],
  [
    'a number or text as tools write it',
    { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    [],
  ],
  ['an unknown type', { type: 'text' }, [`${at}.type: Unsupported value: "text"`]],
  ['a list of anything', { type: 'array' }, [`${at}.items: Required value: must be specified`]],
  ['a tuple', { type: 'array', items: [{ type: 'string' }] }, ['items must be a schema object and not an array']],
  ['a reference', { $ref: '#/x' }, [`${at}.$ref: Forbidden: $ref is not supported`]],
  ['unique items', { type: 'array', uniqueItems: true, items: { type: 'string' } }, ['becomes quadratic']],
  [
    'a map with fields',
    { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'string' } },
    ['additionalProperties and properties are mutual exclusive'],
  ],
  ['a closed object', { type: 'object', additionalProperties: false }, []],
  ['a type in a choice', { type: 'object', anyOf: [{ type: 'object' }] }, [`${at}.anyOf[0].type: Forbidden`]],
  [
    'a default in a choice',
    { type: 'object', properties: { a: { type: 'string' } }, anyOf: [{ properties: { a: { default: 'x' } } }] },
    [`${at}.anyOf[0].properties[a].default: Forbidden: must be undefined`],
  ],
  ['a type that is not', { type: 'string', not: { type: 'integer' } }, [`${at}.not.type: Forbidden`]],
  ['a bad pattern', { type: 'string', pattern: '(' }, ['error parsing regexp: missing closing ): `(`']],
  [
    'unknown fields of no kind',
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
    ['must be true or und'],
  ],
  [
    'an empty object',
    { type: 'object', 'x-kubernetes-embedded-resource': true },
    ['must not be empty if x-kubernetes-emb'],
  ],
])('a field with %s', (_what, schema, want) => expect(check(spec(schema))).toEqual(containing(want)));

it.each<[string, object, string[]]>([
  ['a map', map({}), []],
  [
    'a map without keys',
    map({ 'x-kubernetes-list-map-keys': [] }),
    ['must not be empty if x-kubernetes-list-type is map'],
  ],
  ['keys of no map', map({ 'x-kubernetes-list-type': undefined }), ['must be map if x-kubernetes-list-map-keys']],
  ['unknown keys', map({ 'x-kubernetes-list-map-keys': ['z'] }), ['entries must all be names of item properties']],
  ['keys that may lack', map({ items: item }), [`${at}.items.properties[k].default: Required value`]],
  ['items that may be null', map({ items: { ...item, required: ['k'], nullable: true } }), ['cannot be nullable']],
  [
    'a bag',
    { type: 'array', 'x-kubernetes-list-type': 'bag', items: { type: 'string' } },
    ['Unsupported value: "bag"'],
  ],
  ['an odd map', { type: 'object', 'x-kubernetes-map-type': 'x' }, ['x-kubernetes-map-type: Unsupported value: "x"']],
  ['a set of texts', { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } }, []],
  [
    'a set of objects',
    { type: 'array', 'x-kubernetes-list-type': 'set', items: item },
    ['must be atomic as item of a list'],
  ],
])('%s', (_what, schema, want) => expect(check(spec(schema))).toEqual(containing(want)));

const ruled = (rule: object) => spec({ type: 'object', 'x-kubernetes-validations': [{ rule: 'true', ...rule }] });
it.each<[string, object, string[]]>([
  ['said', {}, []],
  ['not said', { rule: ' ' }, ['rule is not specified']],
  ['with another reason', { reason: 'X' }, ['reason: Unsupported value: "X"']],
  ['of no field', { fieldPath: '.zz' }, ['must be a valid path']],
  ['in two lines', { rule: 'true\n' + '&& true' }, ['message must be specified if rule contains line breaks']],
])('a rule %s', (_what, rule, want) => expect(check(ruled(rule))).toEqual(containing(want)));

it.each<[string, object, string[]]>([
  ['fits', { type: 'string', default: 'a' }, []],
  [
    'is of another type',
    { type: 'string', default: 5 },
    ['Invalid value: "integer":  in body must be of type string: "integer"'],
  ],
  ['has unknown fields', { type: 'object', default: { zz: 1 } }, ['{"zz":1}: must not have unknown fields']],
  [
    'is none of the values',
    { type: 'string', enum: ['a'], default: 'b' },
    ['Unsupported value: "b": supported values: "a"'],
  ],
  ['is inside a map', { type: 'object', additionalProperties: { type: 'integer', default: 'x' } }, []],
])('a default that %s', (_what, schema, want) => expect(check(spec(schema))).toEqual(containing(want)));

it('what alternatives of the whole object speak of must be there', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' } },
    anyOf: [{ required: ['a'], properties: { b: {} } }],
  };
  expect(check(schema)).toEqual(['s.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]']);
});

it('a status of its own leaves the root few words', () => {
  expect(check({ type: 'object', maxProperties: 3 }, { isStatusApart: true })).toEqual(
    containing(['fields are allowed at the root of the schema if the status subresource is enabled']),
  );
  expect(check(spec({ type: 'object' }), { isStatusApart: true })).toEqual([]);
});

it.each<[keyof SchemaLeniency, object]>([
  ['unknownTypes', spec({ type: 'text' })],
  ['unprunedDefaults', spec({ type: 'object', default: { zz: 1 } })],
  ['loneSets', spec({ type: 'array', 'x-kubernetes-list-type': 'set', items: item })],
  ['looseKeys', spec(map({ items: item }))],
])('%s are let through where they always were', (rule, schema) => {
  expect(check(schema)).toHaveLength(1);
  expect(check(schema, { leniency: { ...strict, [rule]: true } })).toEqual([]);
});

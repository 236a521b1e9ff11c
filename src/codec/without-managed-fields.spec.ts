import { withoutManagedFields } from './without-managed-fields.js';

const removed = (value: unknown): unknown =>
  JSON.parse(withoutManagedFields(Buffer.from(JSON.stringify(value))).toString());

const fields = [
  { manager: 'a "quoted\\" }] \\\\', fieldsV1: { 'f:metadata': { 'f:managedFields': {}, 'k:{"a":"]"}': [1] } } },
];

it.each<[name: string, given: unknown, want: unknown]>([
  [
    'an object',
    { metadata: { name: 'a', managedFields: fields, uid: 'u' }, data: {} },
    { metadata: { name: 'a', uid: 'u' }, data: {} },
  ],
  [
    'an object with nothing after them',
    { metadata: { name: 'a', managedFields: fields } },
    { metadata: { name: 'a' } },
  ],
  ['an object with nothing else', { metadata: { managedFields: fields } }, { metadata: {} }],
  ['an object with none', { metadata: { managedFields: null, name: 'a' } }, { metadata: { name: 'a' } }],
  [
    'the items of a list',
    {
      metadata: {},
      items: [{ metadata: { managedFields: fields } }, { metadata: { name: 'b', managedFields: [] }, a: 1 }],
    },
    { metadata: {}, items: [{ metadata: {} }, { metadata: { name: 'b' }, a: 1 }] },
  ],
  [
    'the rows of a Table',
    {
      rows: [
        { cells: ['a', 1], object: { metadata: { managedFields: fields, name: 'a' } } },
        { cells: [], object: null },
      ],
    },
    {
      rows: [
        { cells: ['a', 1], object: { metadata: { name: 'a' } } },
        { cells: [], object: null },
      ],
    },
  ],
])('%s loses its managedFields', (_name, given, want) => expect(removed(given)).toEqual(want));

it.each<[name: string, value: unknown]>([
  ['an annotation', { metadata: { annotations: { managedFields: 'x' } } }],
  [
    'a text with the same characters',
    { metadata: { name: '"managedFields":[1]' }, data: { a: '{"metadata":{"managedFields":[]}}' } },
  ],
  ['data', { metadata: {}, data: { managedFields: 'x' } }],
  ['the template of a Pod', { spec: { template: { metadata: { managedFields: [1] } } } }],
  ['deeply nested data', { a: { b: { c: { d: { e: { f: { managedFields: 1 } } } } } } }],
])('%s stays', (_name, value) => expect(removed(value)).toEqual(value));

it('an item without its opening brace loses its managedFields', () => {
  const item = '"metadata":{"name":"a","managedFields":[{"a":"]"}],"uid":"u"},"spec":{}}';
  expect(withoutManagedFields(Buffer.from(item)).toString()).toBe('"metadata":{"name":"a","uid":"u"},"spec":{}}');
});

it('JSON without managedFields is not copied', () => {
  const json = Buffer.from('{"metadata":{"name":"a"}}');
  expect(withoutManagedFields(json)).toBe(json);
});

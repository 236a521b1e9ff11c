import { fieldChanges } from './field-changes.js';

const prototype = JSON.parse('{"__proto__": {"a": 1}}') as object;

it.each<[string, unknown, unknown, string[]]>([
  ['equal objects have no changes', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
  ['a changed field', { a: { b: 1 } }, { a: { b: 2 } }, ['a.b 1 2']],
  ['added and removed fields', { a: 1, b: 2 }, { b: 2, c: 3 }, ['a 1 undefined', 'c undefined 3']],
  [
    'an int64 beyond doubles',
    { a: 9007199254740993n },
    { a: 9007199254740992n },
    ['a 9007199254740993 9007199254740992'],
  ],
  ['a key with dots', { a: { 'x.y/z': 1 } }, { a: { 'x.y/z': 2 } }, ['a["x.y/z"] 1 2']],
  [
    'items by name',
    {
      c: [
        { name: 'a', i: 1 },
        { name: 'b', i: 1 },
      ],
    },
    {
      c: [
        { name: 'b', i: 2 },
        { name: 'a', i: 1 },
      ],
    },
    ['c[name=b].i 1 2'],
  ],
  [
    'an added and a removed item',
    { c: [{ name: 'a' }] },
    { c: [{ name: 'b' }] },
    ['c[name=a] [object Object] undefined', 'c[name=b] undefined [object Object]'],
  ],
  [
    'items without a unique key, by position',
    {
      c: [
        { name: 'a', i: 1 },
        { name: 'a', i: 1 },
      ],
    },
    {
      c: [
        { name: 'a', i: 1 },
        { name: 'a', i: 2 },
      ],
    },
    ['c[1].i 1 2'],
  ],
  ['a list of texts as a whole', { f: ['a', 'b'] }, { f: ['a'] }, ['f a,b a']],
  ['another type', { a: { b: 1 } }, { a: [1] }, ['a [object Object] 1']],
  ['a field named __proto__', {}, prototype, ['__proto__ undefined [object Object]']],
  [
    'fields that all objects inherit',
    {},
    { constructor: 'a', toString: 1 },
    ['constructor undefined a', 'toString undefined 1'],
  ],
])('%s', (_title, before, after, changes) => {
  expect(
    fieldChanges(before, after).map((change) => `${change.path} ${String(change.before)} ${String(change.after)}`),
  ).toEqual(changes);
});

import { path } from './field-error.js';
import { immutable } from './immutable.js';

it.each<[unknown, unknown, string[]]>([
  ['a', 'a', []],
  [{ a: ['b'] }, { a: ['b'] }, []],
  [undefined, {}, []],
  [[], null, []],
  ['b', 'a', ['Invalid value: "b": field is immutable']],
  [undefined, 'a', ['Invalid value: null: field is immutable']],
  [false, true, ['Invalid value: false: field is immutable']],
  [{ a: 'b' }, {}, ['Invalid value: {"a":"b"}: field is immutable']],
])('%j after %j', (value, old, want) =>
  expect(immutable(value, old, path('spec')).map(({ detail }) => detail)).toEqual(want),
);

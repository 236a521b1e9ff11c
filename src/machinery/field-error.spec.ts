import { fieldError, goQuote, path } from './field-error.js';

it.each<[unknown, string]>([
  ['a "b"', '"a \\"b\\""'],
  ['\\u0041 \\x', '"\\\\u0041 \\\\x"'],
  ['\b\f\n\t\x07\v\x01\\', '"\\b\\f\\n\\t\\a\\v\\x01\\\\"'],
  [undefined, 'null'],
  [{ a: [1, 'x'] }, '{"a":[1,"x"]}'],
  [9007199254740993n, '9007199254740993'],
  [{ a: '\x00123', b: ['x"\x00-1', 9007199254740993n] }, '{"a":"\\u0000123","b":["x\\"\\u0000-1",9007199254740993]}'],
  [{ generation: -9007199254740993n, b: '1' }, '{"generation":-9007199254740993,"b":"1"}'],
])('formats %p as %s', (value, shown) =>
  expect(fieldError.invalid('f', value, '').detail).toBe(`Invalid value: ${shown}`),
);

it.each([
  ['plain ~', '"plain ~"'],
  ['\u007f\u0085\u200b\u2028\u00a0', '"\\x7f\\u0085\\u200b\\u2028\\u00a0"'],
  ['caf\u00e9 \u4e00 \u{1f600}', '"caf\u00e9 \u4e00 \u{1f600}"'],
  ['\u{e0001}\ue000', '"\\U000e0001\\ue000"'],
  ['\ud800a', '"\ufffda"'],
])('quotes a string as Go does: row %#', (text, quoted) => expect(goQuote(text)).toBe(quoted));

it.each([
  [path('spec'), 'spec'],
  [path('spec').child('a', 'b').child('c'), 'spec.a.b.c'],
  [path('').child('a').index(0).child('b'), 'a[0].b'],
  [path('').index(2), '[2]'],
  [path('a').child('').key('x.y').index(1), 'a[x.y][1]'],
  [path('a').child('', 'b'), 'a.b'],
])('%s is %s', (at, text) => expect(String(at)).toBe(text));

it('an error has the field of a FieldPath, or the text as it is', () => {
  expect(fieldError.required(path('spec').child('ports').index(0)).field).toBe('spec.ports[0]');
  expect(fieldError.required('spec.ports').field).toBe('spec.ports');
});

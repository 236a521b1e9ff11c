import type { Attributes } from '../cache/encoded-object.js';
import { OwnValues } from './own-values.js';

const attributes = (name: string): Attributes => ({ namespace: '', name, labels: undefined, fields: {} });

test('equal bytes under the same key are known, once', () => {
  const own = new OwnValues();
  const known = attributes('a');
  own.remember('/a', Buffer.from('one'), known);
  expect(own.take('/b', Buffer.from('one'))).toBeUndefined();
  expect(own.take('/a', Buffer.from('two'))).toBeUndefined();
  expect(own.take('/a', Buffer.from('one'))).toBe(known);
  expect(own.take('/a', Buffer.from('one'))).toBeUndefined();
});

test('the last value of a key counts', () => {
  const own = new OwnValues();
  own.remember('/a', Buffer.from('one'), attributes('a'));
  own.remember('/a', Buffer.from('two'), attributes('b'));
  expect(own.take('/a', Buffer.from('one'))).toBeUndefined();
  expect(own.take('/a', Buffer.from('two'))?.name).toBe('b');
});

test.each([
  ['many values', 1025, 1],
  ['large values', 7, 3 * 1024 * 1024],
])('of %s that never come back the oldest are forgotten', (_, count, bytes) => {
  const own = new OwnValues();
  const value = (n: number) => Buffer.alloc(bytes, n);
  for (let n = 0; n < count; n++) own.remember(`/${n}`, value(n), attributes(`${n}`));
  expect(own.take('/0', value(0))).toBeUndefined();
  expect(own.take(`/${count - 1}`, value(count - 1))?.name).toBe(`${count - 1}`);
});

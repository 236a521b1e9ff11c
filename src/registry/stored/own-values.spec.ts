import { collectGarbage } from '../../../test/harness/collect-garbage.js';
import { EncodedObject } from '../../cache/encoded-object.js';
import { revisionOf, type Revision } from '../../machinery/revision.js';
import { OwnValues } from './own-values.js';

const at = (key: string) => (revision: Revision) =>
  new EncodedObject(key, revision, Buffer.alloc(0), { namespace: '', name: key, labels: undefined, fields: {} });

test('finds equal bytes under the same key, at the given revision', () => {
  const own = new OwnValues();
  own.remember('/a', Buffer.from('one'), at('/a'));
  expect(own.find('/b', Buffer.from('one'), revisionOf(7))).toBeUndefined();
  expect(own.find('/a', Buffer.from('two'), revisionOf(7))).toBeUndefined();
  const found = own.find('/a', Buffer.from('one'), revisionOf(7))!;
  expect(found).toMatchObject({ key: '/a', revision: 7 });
  expect(own.find('/a', Buffer.from('one'), revisionOf(9))).toMatchObject({ key: '/a', revision: 9 });
});

test('gives the same object to the writer and to the feed, and forgets it then', () => {
  const own = new OwnValues();
  own.remember('/a', Buffer.from('one'), at('/a'));
  const found = own.find('/a', Buffer.from('one'), revisionOf(7));
  expect(own.find('/a', Buffer.from('one'), revisionOf(7))).toBe(found);
  expect(own.find('/a', Buffer.from('one'), revisionOf(7))).toBeUndefined();
});

test('does not keep the object, whose slab has the bytes of many others', async () => {
  const own = new OwnValues();
  own.remember('/a', Buffer.from('one'), at('/a'));
  const found = new WeakRef(own.find('/a', Buffer.from('one'), revisionOf(7))!);
  await collectGarbage();
  expect(found.deref()).toBeUndefined();
  expect(own.find('/a', Buffer.from('one'), revisionOf(7))).toMatchObject({ key: '/a', revision: 7 });
});

test('keeps only the last value of a key, until forget()', () => {
  const own = new OwnValues();
  own.remember('/a', Buffer.from('one'), at('/a'));
  own.remember('/a', Buffer.from('two'), at('/a'));
  expect(own.find('/a', Buffer.from('one'), revisionOf(7))).toBeUndefined();
  expect(own.find('/a', Buffer.from('two'), revisionOf(7))).toBeDefined();
  own.forget('/a');
  expect(own.find('/a', Buffer.from('two'), revisionOf(7))).toBeUndefined();
});

test.each([
  ['many values', 257, 1],
  ['large values', 5, 1024 * 1024],
])('drops the oldest of %s', (_, count, bytes) => {
  const own = new OwnValues();
  const value = (n: number) => Buffer.alloc(bytes, n);
  for (let n = 0; n < count; n++) own.remember(`/${n}`, value(n), at(`/${n}`));
  expect(own.find('/0', value(0), revisionOf(7))).toBeUndefined();
  expect(own.find('/1', value(1), revisionOf(7))).toBeDefined();
  expect(own.find(`/${count - 1}`, value(count - 1), revisionOf(7))).toBeDefined();
});

test('does not keep a value larger than the bound', () => {
  const own = new OwnValues();
  const value = Buffer.alloc(5 * 1024 * 1024);
  own.remember('/a', value, at('/a'));
  expect(own.find('/a', value, revisionOf(7))).toBeUndefined();
});

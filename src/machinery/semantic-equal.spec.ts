import { semanticEqual } from './semantic-equal.js';

const proto = (value: unknown) => Object.fromEntries([['__proto__', value]]);

// prettier-ignore
it.each<[unknown, unknown, boolean]>([
  [1, 1, true],
  [1, '1', false],
  [0, null, false],
  ['', undefined, false],
  [false, undefined, false],
  [null, undefined, true],
  [[], null, true],
  [{}, undefined, true],
  [[], {}, true],
  [[1], {}, false],
  [[1], { 0: 1 }, false],
  [[[]], [], false],
  [[1, 2], [2, 1], false],
  [{ a: 1, b: [] }, { a: 1 }, true],
  [{ a: 1 }, { a: 1, b: {} }, true],
  [{ a: 1 }, { a: 1, b: 0 }, false],
  [{ a: { b: null } }, { a: {} }, true],
  [{}, { toString: 1 }, false],
  [{ constructor: {} }, {}, true],
  [proto({ a: 1 }), {}, false],
  [{}, proto({ a: 1 }), false],
])('semanticEqual(%j, %j) is %s', (a, b, want) => expect([semanticEqual(a, b), semanticEqual(b, a)]).toEqual([want, want]));

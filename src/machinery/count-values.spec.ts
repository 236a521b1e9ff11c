import type { JsonValue } from './kube-object.js';
import { countValues } from './count-values.js';

it.each<[JsonValue, number, number]>([
  [null, 10, 1],
  [{}, 10, 1],
  [{ a: 1, b: null }, 10, 3],
  [{ a: [1, [], {}], b: { c: [true] } }, 10, 8],
  [[1, 2, 3, 4], 3, 4],
  [{ a: [1, 2, 3, 4], b: 1 }, 3, 4],
])('countValues(%j, %d) is %d', (value, max, want) => expect(countValues(value, max)).toBe(want));

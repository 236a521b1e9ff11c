import fc from 'fast-check';
import { deepEqual } from '../../machinery/deep-equal.js';
import type { Toleration } from '../../catalog/types/core.v1.js';
import type { Int64 } from '../../machinery/int64.js';
import { covers, mergeTolerations } from './tolerations.js';

/** Compares each toleration with each other one: the rule as it is specified. */
function mergeByPairs(all: readonly Toleration[]): Toleration[] {
  const merged: Toleration[] = [];
  all.forEach((toleration, index) => {
    if (merged.some((other) => covers(other, toleration))) return;
    const later = all.slice(index + 1);
    if (later.some((other) => !deepEqual(other, toleration) && covers(other, toleration))) return;
    merged.push(toleration);
  });
  return merged;
}

const anyToleration: fc.Arbitrary<Toleration> = fc
  .record(
    {
      key: fc.constantFrom('', 'a', 'b'),
      operator: fc.constantFrom('', 'Equal', 'Exists', 'Gt'),
      value: fc.constantFrom('', 'x', 'y'),
      effect: fc.constantFrom('', 'NoExecute', 'NoSchedule'),
      tolerationSeconds: fc.constantFrom(0, 5, 2n ** 53n + 1n, 2n ** 62n, -(2n ** 53n + 1n)),
    },
    { requiredKeys: [] },
  )
  .map((fields) => ({ ...fields }));

it.each<[wide: Int64 | undefined, narrow: Int64 | undefined, boolean]>([
  [300, 300, true],
  [300, 301, false],
  [300, undefined, false],
  [300, 2n ** 53n + 1n, false],
  [2n ** 53n + 1n, 300, true],
  [2n ** 53n + 1n, 2n ** 53n + 3n, false],
  [2n ** 63n - 1n, undefined, false],
  [undefined, 2n ** 63n - 1n, true],
])('a toleration of %s s covers one of %s s: %s', (wide, narrow, want) => {
  const lasting = (tolerationSeconds: Int64 | undefined): Toleration => ({
    key: 'a',
    operator: 'Exists',
    effect: 'NoExecute',
    ...(tolerationSeconds !== undefined && { tolerationSeconds }),
  });
  expect(covers(lasting(wide), lasting(narrow))).toBe(want);
});

describe('mergeTolerations', () => {
  it('keeps the same tolerations as a comparison of all pairs', () => {
    fc.assert(
      fc.property(fc.array(anyToleration, { maxLength: 8 }), fc.nat({ max: 8 }), (all, split) => {
        expect(mergeTolerations(all.slice(0, split), all.slice(split))).toEqual(mergeByPairs(all));
      }),
      { numRuns: 3_000 },
    );
  });
});

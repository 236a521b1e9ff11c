import fc from 'fast-check';
import { deepEqual } from '../../machinery/deep-equal.js';
import type { Toleration } from '../../catalog/types/core.v1.js';
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
      tolerationSeconds: fc.constantFrom(0, 5, 10),
    },
    { requiredKeys: [] },
  )
  .map((fields) => ({ ...fields }));

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

import fc from 'fast-check';
import { deepEqual } from '../../machinery/deep-equal.js';
import type { Fields } from '../../machinery/fields.js';
import { covers, mergeTolerations } from './tolerations.js';

/** Every toleration compared with every other one, as the rule is written. */
function mergedOneByOne(all: readonly Fields[]): Fields[] {
  const merged: Fields[] = [];
  all.forEach((toleration, index) => {
    if (merged.some((other) => covers(other, toleration))) return;
    const later = all.slice(index + 1);
    if (later.some((other) => !deepEqual(other, toleration) && covers(other, toleration))) return;
    merged.push(toleration);
  });
  return merged;
}

const anyToleration: fc.Arbitrary<Fields> = fc
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

describe('merging tolerations', () => {
  it('keeps what a comparison of each with each keeps', () => {
    fc.assert(
      fc.property(fc.array(anyToleration, { maxLength: 8 }), fc.nat({ max: 8 }), (all, split) => {
        expect(mergeTolerations(all.slice(0, split), all.slice(split))).toEqual(mergedOneByOne(all));
      }),
      { numRuns: 3_000 },
    );
  });
});

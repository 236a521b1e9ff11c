import { readAmounts, sameAmounts, writeAmounts, type Amounts } from '../../admission/amounts.js';
import { asFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Quantity } from '../../machinery/quantity.js';

export interface Decision {
  /** What the status should be; undefined where it is so already. */
  readonly status: { readonly hard: Record<string, string>; readonly used: Record<string, string> } | undefined;
  /** More is noted as used than there is: it may be on its way, and is given back when it does not come. */
  readonly waits: boolean;
}

/**
 * What a quota should say. Admission notes what an object takes before the object is stored, so less is written down
 * only for what nobody noted lately:
 *
 *   noted 7, counted 5, of which 1 was noted a moment ago  -->  6, and 5 when that moment is over
 */
export function decide(quota: KubeObject, counted: Amounts, lately: Amounts | 'unknown'): Decision {
  const hard = readAmounts(asFields(quota['spec'])['hard']);
  const status = asFields(quota['status']);
  const noted = readAmounts(status['used']);
  const used = new Map<string, Quantity>();
  let waits = false;
  for (const name of hard.keys()) {
    const there = counted.get(name);
    const before = noted.get(name);
    if (there === undefined) {
      // Of a kind that is not served: what was noted is all that is known.
      if (before) used.set(name, before);
    } else if (before === undefined || there.compare(before) >= 0) {
      used.set(name, before?.equals(there) ? before : there);
    } else {
      const next = lately === 'unknown' ? before : smaller(before, plus(there, lately.get(name)));
      used.set(name, next);
      waits ||= next.compare(there) > 0;
    }
  }
  const isSame = sameAmounts(readAmounts(status['hard']), hard) && sameAmounts(noted, used);
  return { status: isSame ? undefined : { hard: writeAmounts(hard), used: writeAmounts(used) }, waits };
}

const smaller = (a: Quantity, b: Quantity): Quantity => (a.compare(b) <= 0 ? a : b);
const plus = (a: Quantity, b: Quantity | undefined): Quantity => (b ? a.add(b) : a);

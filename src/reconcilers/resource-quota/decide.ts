import { parseAmounts, sameAmounts, toResourceList, type Amounts } from '../../admission/amounts.js';
import type { ResourceQuota } from '../../catalog/types/core.v1.js';
import type { Quantity } from '../../machinery/quantity.js';

interface Decision {
  /** The new status; undefined if the status need not change. */
  readonly status: { readonly hard: Record<string, string>; readonly used: Record<string, string> } | undefined;
  /** True if `used` includes recent charges of objects that are not stored (yet): decide again after some time. */
  readonly waits: boolean;
}

/**
 * Computes the status of a quota. Admission charges an object before it is stored, so `used` is reduced only by what was
 * not charged recently:
 *
 *   used 7, counted 5, of which 1 was charged a moment ago  -->  6, and 5 after that moment
 */
export function decide({ spec, status = {} }: ResourceQuota, counted: Amounts, recent: Amounts | 'unknown'): Decision {
  const hard = parseAmounts(spec?.hard);
  const charged = parseAmounts(status.used);
  const used = new Map<string, Quantity>();
  let waits = false;
  for (const name of hard.keys()) {
    const stored = counted.get(name);
    const before = charged.get(name);
    if (stored === undefined) {
      // The resource is not served, so that its objects cannot be counted.
      if (before) used.set(name, before);
    } else if (before === undefined || stored.compare(before) >= 0) {
      used.set(name, before?.equals(stored) ? before : stored);
    } else {
      const next = recent === 'unknown' ? before : smaller(before, plus(stored, recent.get(name)));
      used.set(name, next);
      waits ||= next.compare(stored) > 0;
    }
  }
  const isSame = sameAmounts(parseAmounts(status.hard), hard) && sameAmounts(charged, used);
  return { status: isSame ? undefined : { hard: toResourceList(hard), used: toResourceList(used) }, waits };
}

const smaller = (a: Quantity, b: Quantity): Quantity => (a.compare(b) <= 0 ? a : b);
const plus = (a: Quantity, b: Quantity | undefined): Quantity => (b ? a.add(b) : a);

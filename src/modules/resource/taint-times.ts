import { isSet, type Fields } from '../../machinery/fields.js';

/** Since when a taint is there is noted when nobody says it. */
export function stampTaint(taint: Fields, now: string): void {
  if (!isSet(taint['timeAdded'])) taint['timeAdded'] = now;
}

import type { DeviceTaint } from '../../catalog/types/resource.v1.js';
import type { Mutable } from '../../machinery/mutable.js';

/** Sets timeAdded of a taint if it is absent. */
export function stampTaint(taint: Mutable<DeviceTaint>, now: string): void {
  taint.timeAdded ??= now;
}

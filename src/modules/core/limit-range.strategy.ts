import type { LimitRange, LimitRangeItem } from '../../catalog/types/core.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateLimitRange } from './limit-range.validation.js';
import { normalizeAmounts } from './pod/pod-resources.js';

export const limitRangeStrategy: Strategy<LimitRange> = {
  validateName: nameIsDnsSubdomain,
  default: defaultLimitRange,
  validateInSteps: validateLimitRange,
};

function defaultLimitRange(range: Mutable<LimitRange>): void {
  const spec = (range.spec ??= {});
  for (const limit of spec.limits ?? []) {
    normalizeAmounts(limit.max);
    normalizeAmounts(limit.min);
    normalizeAmounts(limit.default);
    normalizeAmounts(limit.defaultRequest);
    normalizeAmounts(limit.maxLimitRequestRatio);
    if (limit.type === 'Container') defaultContainerLimit(limit);
  }
}

/** Sets absent default limits to the maximum, and absent default requests to the default limits, else the minimum. */
function defaultContainerLimit(limit: Mutable<LimitRangeItem>): void {
  copyMissing(limit, 'max', 'default');
  copyMissing(limit, 'default', 'defaultRequest');
  copyMissing(limit, 'min', 'defaultRequest');
}

type AmountField = 'max' | 'min' | 'default' | 'defaultRequest';

function copyMissing(limit: Mutable<LimitRangeItem>, from: AmountField, to: AmountField): void {
  const amounts = limit[from] ?? {};
  if (Object.keys(amounts).length === 0) return;
  limit[to] = { ...amounts, ...limit[to] };
}

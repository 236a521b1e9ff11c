import { asFields, asItems, makeFields, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateLimitRange } from './limit-range.validation.js';
import { normalizeAmounts } from './pod/pod-resources.js';

export const limitRangeStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  default: defaultLimitRange,
  validateInSteps: validateLimitRange,
};

export const amountsOfLimits = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

function defaultLimitRange(range: KubeObject): void {
  for (const limit of asItems(makeFields(range, 'spec')['limits'])) {
    for (const amounts of amountsOfLimits) normalizeAmounts(limit[amounts]);
    if (limit['type'] === 'Container') defaultContainerLimit(limit);
  }
}

/** What is not said about a default follows from the maximum, and what is not said about a request from the default. */
function defaultContainerLimit(limit: Fields): void {
  copyMissing(limit, 'max', 'default');
  copyMissing(limit, 'default', 'defaultRequest');
  copyMissing(limit, 'min', 'defaultRequest');
}

function copyMissing(limit: Fields, from: string, to: string): void {
  const amounts = asFields(limit[from]);
  if (Object.keys(amounts).length === 0) return;
  limit[to] = { ...amounts, ...asFields(limit[to]) };
}

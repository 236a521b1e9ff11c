import type * as v1 from '../../catalog/types/policy.v1.js';
import type * as v1beta1 from '../../catalog/types/policy.v1beta1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import type { StoredVersion } from '../../registry/definition/resource-definition.js';

const key = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';
const matchesAll = { matchExpressions: [{ key, operator: 'DoesNotExist' }] };
const matchesNone = { matchExpressions: [{ key, operator: 'Exists' }] };

/** In v1beta1 an empty selector selects no Pod, in v1 all Pods. Selectors by a reserved key keep the meaning. */
export const storedBudgets: readonly StoredVersion[] = [{ group: 'policy', version: 'v1beta1', toHub }];

function toHub(stored: v1beta1.PodDisruptionBudget): v1.PodDisruptionBudget {
  const { spec } = stored;
  const selector = spec?.selector;
  if (deepEqual(selector, {})) return { ...stored, spec: { ...spec, selector: matchesNone } };
  return deepEqual(selector, matchesAll) ? { ...stored, spec: { ...spec, selector: {} } } : stored;
}

import { deepEqual } from '../../machinery/deep-equal.js';
import { asFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { StoredVersion } from '../../registry/definition/resource-definition.js';

const key = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';
const matchesAll = { matchExpressions: [{ key, operator: 'DoesNotExist' }] };
const matchesNone = { matchExpressions: [{ key, operator: 'Exists' }] };

/** In v1beta1 an empty selector selects no Pod, in v1 all of the namespace. Selectors of a reserved key stand for both. */
export const storedBudgets: readonly StoredVersion[] = [{ group: 'policy', version: 'v1beta1', toHub }];

function toHub(stored: KubeObject): KubeObject {
  const spec = asFields(stored['spec']);
  const { selector } = spec;
  if (deepEqual(selector, {})) return { ...stored, spec: { ...spec, selector: matchesNone } };
  return deepEqual(selector, matchesAll) ? { ...stored, spec: { ...spec, selector: {} } } : stored;
}

import type { GroupVersionKind } from '../machinery/gvk.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { copyObject } from '../patch/copy-json.js';
import { toServedVersion, toStorageVersion } from '../registry/definition/served-version.js';
import type { Target } from './verb.js';

/**
 * Records the object of a request with its defaults, as kube-apiserver does, which sets them while it decodes. Those of a
 * built-in kind are set in its storage version, and converted to that of the request.
 */
export function recordSubmitted({ served, context }: Target, object: KubeObject, viewKind?: GroupVersionKind): void {
  const { record } = context;
  if (!record) return;
  if (!record.takesRequests || viewKind) return record.submitted(object);
  record.submitted(withDefaults(served, copyObject(object)));
}

/** Sets defaults in a copy: what a write sets by default may depend on the stored object. */
function withDefaults({ definition, store }: Target['served'], copy: KubeObject): KubeObject {
  // Each version of a custom kind has the defaults of its own schema.
  if (definition.customType) {
    definition.strategy.default?.(copy);
    return copy;
  }
  const stored = toStorageVersion(definition, copy);
  store.fillDefaults(stored);
  return toServedVersion(definition, stored);
}

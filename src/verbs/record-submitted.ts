import type { GroupVersionKind } from '../machinery/gvk.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { copyObject } from '../patch/copy-json.js';
import type { Target } from './verb.js';

/**
 * Records the object of a request with its defaults, as kube-apiserver does, which sets them while it decodes. Defaults of
 * kinds that are stored in another version are set later, and are not in the record.
 */
export function recordSubmitted({ served, context }: Target, object: KubeObject, viewKind?: GroupVersionKind): void {
  const { record } = context;
  if (!record) return;
  if (!record.takesRequests || viewKind || served.definition.hub) return record.submitted(object);
  // A copy: what a write sets by default may depend on the stored object.
  const defaulted = copyObject(object);
  served.store.fillTypeDefaults(defaulted);
  served.store.fillKindDefaults(defaulted);
  record.submitted(defaulted);
}

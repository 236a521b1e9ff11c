import type { KubeObject } from '../machinery/kube-object.js';
import { semanticEqual } from '../machinery/semantic-equal.js';
import type { AdmissionAttributes } from './admission-plugin.js';

/** True if the update changes nothing, or only what the garbage collector changes: ownerReferences and finalizers. */
export function onlyCleanupChanges({ object, old }: Pick<AdmissionAttributes, 'object' | 'old'>): boolean {
  return old !== undefined && object !== undefined && semanticEqual(withoutCleanup(object), withoutCleanup(old));
}

function withoutCleanup({ metadata, ...rest }: KubeObject): unknown {
  const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _managed, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

import { ApiError } from '../../machinery/api-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ResourceStore } from '../resource-store.js';

/** The uid and resourceVersion that the stored object must have, as in DeleteOptions.preconditions. */
export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export function checkPreconditions(
  store: ResourceStore,
  current: KubeObject,
  preconditions: Preconditions | undefined,
): void {
  if (!preconditions) return;
  const { uid, resourceVersion } = current.metadata;
  const conflict = (message: string) =>
    ApiError.conflict(
      { group: store.definition.group, resource: store.definition.kind },
      current.metadata.name ?? '',
      message,
    );
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflict(
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

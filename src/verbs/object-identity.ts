import { ApiError } from '../machinery/api-error.js';
import { fieldError } from '../machinery/field-error.js';
import type { KubeObject } from '../machinery/kube-object.js';

/** Sets metadata.namespace from the URL. A different namespace in the body is rejected (400). */
export function ensureNamespace(object: KubeObject, namespace: string, namespaced: boolean): void {
  const { metadata } = object;
  if (!namespaced) {
    delete metadata.namespace;
    return;
  }
  if (metadata.namespace === undefined || metadata.namespace === '') metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw ApiError.badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

/** Rejects a name in the body that differs from the URL (400). */
export function checkName(object: KubeObject, name: string): void {
  if (!object.metadata.name) {
    throw ApiError.badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (object.metadata.name !== name) {
    throw ApiError.badRequest(
      `the name of the object (${object.metadata.name}) does not match the name on the URL (${name})`,
    );
  }
}

/** PATCH and apply must not change metadata.uid (422). For PUT the uid is a precondition (409). */
export function checkUid(
  object: KubeObject,
  live: KubeObject | undefined,
  of: { readonly group: string; readonly kind: string },
  name: string,
): void {
  const { uid } = object.metadata;
  if (!uid || uid === live?.metadata.uid) return;
  throw ApiError.invalid(of, name, [fieldError.invalid('metadata.uid', uid, 'field is immutable')]);
}

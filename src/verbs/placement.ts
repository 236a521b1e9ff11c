import { ApiError } from '../machinery/api-error.js';
import { fieldError } from '../machinery/field-error.js';
import type { KubeObject } from '../machinery/kube-object.js';

/** An object goes where its URL says; its own word may be missing, but not another. */
export function placeInNamespace(object: KubeObject, namespace: string, namespaced: boolean): void {
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

/** A PUT or PATCH speaks of the object that its URL names. */
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

/** A change cannot make an object another one. Whoever replaces it says by the uid which one he means: that may conflict. */
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

import type { GroupVersionKind } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { subresourceOf } from '../../registry/definition/resource-definition.js';
import { toServedVersion } from '../../registry/definition/served-version.js';
import type { Served, ServedResource } from '../../registry/resource-registry.js';
import { canonicalObject } from '../../registry/write/submitted-object.js';

export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** A version of the requested resource, in which policies see the objects of a request. */
export interface RequestForm {
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
  /** Converts an object from the storage version, and omits the empty fields that a Go server would omit. */
  readonly present: (object: KubeObject) => KubeObject;
}

/** Returns the form of a resource or of one of its subresources. */
export function formOf(served: Served, subresource: string): RequestForm {
  const { group, version, plural, kind } = served.definition;
  const resource = { group, version, resource: plural };
  const own = { group, version, kind };
  if (served.type === 'virtual') return { resource, kind: own, present: (object) => object };
  const found = subresourceOf(served.definition, subresource);
  if (found?.type === 'handled') {
    return { resource, kind: found.kind, present: (object) => canonicalAs(served, found.kind, object) };
  }
  const viewKind = found?.viewKind;
  if (found && viewKind) {
    return { resource, kind: viewKind, present: (object) => canonicalAs(served, viewKind, found.view(object)) };
  }
  return { resource, kind: own, present: (object) => presentObject(served, object) };
}

function canonicalAs(
  { store }: ServedResource,
  { group, version, kind }: GroupVersionKind,
  object: KubeObject,
): KubeObject {
  const type = store.dependencies.types.kind(group, version, kind);
  return type ? canonicalObject(object, type) : object;
}

function presentObject({ definition, store, struct }: ServedResource, object: KubeObject): KubeObject {
  // Converters read conformed objects of a built-in kind, and leave empty fields in their results.
  if (definition.hub && struct) return canonicalObject(toServedVersion(definition, object), struct);
  return toServedVersion(definition, store.canonical(object));
}

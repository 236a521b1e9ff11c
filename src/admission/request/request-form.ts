import type { GroupVersionKind } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { StructType } from '../../machinery/type-model.js';
import type { Schema } from '../../patch/apply/schema.js';
import { schemaOfType } from '../../patch/apply/schema-of-type.js';
import { subresourceOf } from '../../registry/definition/resource-definition.js';
import { toServedVersion, toStorageVersion } from '../../registry/definition/served-version.js';
import type { Served, ServedResource } from '../../registry/resource-registry.js';
import { canonicalObject, submittedObject } from '../../registry/write/submitted-object.js';

export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** A version of the requested resource, in which policies and webhooks see the objects of a request. */
export interface RequestForm {
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
  /**
   * Converts an object from the storage version, and omits the empty fields that a Go server would omit. `canonical` is
   * the object without these fields, if its caller has it.
   */
  readonly present: (object: KubeObject, canonical?: KubeObject) => KubeObject;
  /** Converts a changed object back to the storage version; `stored` is its state before. Throws ApiError. */
  readonly restore: (changed: unknown, stored: KubeObject) => KubeObject;
  /** Undefined for a kind without a type. */
  readonly schema: () => Schema | undefined;
}

const known = new WeakMap<Served, Map<string, RequestForm>>();

/** Returns the form of a resource or of one of its subresources; the same one for all requests. */
export function formOf(served: Served, subresource: string): RequestForm {
  let forms = known.get(served);
  if (!forms) known.set(served, (forms = new Map<string, RequestForm>()));
  let form = forms.get(subresource);
  if (!form) {
    form = computeForm(served, subresource);
    // Requests of unknown subresources are refused, and must not fill the map.
    const isKnown = served.type === 'stored' && subresourceOf(served.definition, subresource) !== undefined;
    if (subresource === '' || isKnown) forms.set(subresource, form);
  }
  return form;
}

function computeForm(served: Served, subresource: string): RequestForm {
  const { group, version, plural, kind } = served.definition;
  const resource = { group, version, resource: plural };
  const own = { group, version, kind };
  if (served.type === 'virtual') {
    const restore = (changed: unknown) => changed as KubeObject;
    return { resource, kind: own, present: (object) => object, restore, schema: () => undefined };
  }
  const found = subresourceOf(served.definition, subresource);
  const otherKind = found?.type === 'handled' ? found.kind : found?.viewKind;
  if (!found || !otherKind) {
    return {
      resource,
      kind: own,
      present: (object, canonical) => presentObject(served, object, canonical),
      restore: (changed) => restoredObject(served, changed),
      schema: () => served.store.ownership.schemaOf(served.definition),
    };
  }
  const type = served.store.dependencies.types.kind(otherKind.group, otherKind.version, otherKind.kind);
  const restored = (changed: unknown) => submittedObject(changed, otherKind, { type }).object;
  const schema = () => type && schemaOfType(type);
  const canonical = (object: KubeObject) => (type ? canonicalOf(object, type) : object);
  return found.type === 'handled'
    ? { resource, kind: otherKind, present: canonical, restore: restored, schema }
    : {
        resource,
        kind: otherKind,
        present: (object) => canonical(found.view(object)),
        restore: (changed, stored) => found.put(stored, restored(changed)),
        schema,
      };
}

/** Options of connections (PodExecOptions) have no metadata. */
function canonicalOf(object: KubeObject, type: StructType): KubeObject {
  const canonical = canonicalObject(object, type);
  if (type.byName.has('metadata')) return canonical;
  const { metadata: _metadata, ...fields } = canonical;
  return fields as KubeObject;
}

function presentObject(
  { definition, store, struct }: ServedResource,
  object: KubeObject,
  canonical?: KubeObject,
): KubeObject {
  // Converters read conformed objects of a built-in kind, and leave empty fields in their results.
  if (definition.hub && struct) return canonicalObject(toServedVersion(definition, object), struct);
  return toServedVersion(definition, canonical ?? store.canonical(object));
}

function restoredObject({ definition, struct }: ServedResource, changed: unknown): KubeObject {
  const { object } = submittedObject(changed, definition, { type: struct, customType: definition.customType });
  return toStorageVersion(definition, object);
}

import type { CallTrace } from '../../std/call-trace.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { FieldError } from '../../machinery/field-error.js';
import type { GroupVersionKind } from '../../machinery/gvk.js';
import type { CustomType } from './custom-type.js';
import type { Steps } from '../../std/steps.js';
import type { Strategy, StrategyContext } from './strategy.js';
import type { TableDefinition } from './table.js';

/**
 * Everything that the verbs need to serve one (group, version, resource). Built-in and custom kinds are served alike.
 */
export interface ResourceDefinition {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly ResourceVerb[];
  /** The key prefix under the root, as in kube-apiserver: `pods`, `services/specs`. */
  readonly storagePrefix: string;
  /**
   * Fields that field selectors may use, beside metadata.name and metadata.namespace, with a function that reads each.
   */
  readonly selectableFields: Readonly<Record<string, (object: KubeObject) => string>>;
  /** The selectable fields by which the cache indexes watchers. */
  readonly indexedFields: readonly string[];
  /** Set for custom kinds. */
  readonly customType?: CustomType;
  /** Set if objects are not stored as JSON or protobuf of this version. */
  readonly storage?: StorageVersion;
  /**
   * Other versions in which objects of the kind may be stored. Versions of the same group with equal fields need no
   * entry.
   */
  readonly storedVersions?: readonly StoredVersion[];
  readonly strategy: Strategy;
  readonly table: TableDefinition;
  readonly subresources: Readonly<Record<string, SubresourceDefinition>>;
  /** Fields that a write of the main resource leaves unchanged, beside status. A field manager does not own them. */
  readonly resetFields?: readonly string[];
  /** Annotations that hold fields of older versions. PartialObjectMetadata leaves them out. */
  readonly fieldAnnotations?: readonly string[];
  /** True if PUT creates an object that does not exist. */
  readonly allowsCreateOnUpdate: boolean;
  /** True if PUT without a resourceVersion overwrites the object. */
  readonly allowsUnconditionalUpdate: boolean;
  /** True if DELETE returns the deleted object instead of a Status. */
  readonly returnsDeletedObject: boolean;
  /** True if items of lists have kind and apiVersion, as those of custom kinds do. */
  readonly itemsCarryType: boolean;
  /** Set if another version of the resource is the storage version. */
  readonly hub: Hub | undefined;
}

/**
 * Converts a served version from and to the storage version (ADR 005). Converters change no argument, lose nothing, and
 * leave kind and apiVersion to the caller. They throw NotReady if another server converts and has not answered yet. If a version has a strategy of its own, for stricter rules, the strategy
 * sees objects in the storage version.
 */
export interface Hub {
  readonly stored: { readonly group: string; readonly version: string; readonly plural: string };
  readonly toHub: (object: KubeObject) => KubeObject;
  readonly fromHub: (object: KubeObject) => KubeObject;
  /** Set if another server converts: asks it for several objects at once, so that fromHub() finds the results. */
  readonly fromHubAhead?: (objects: readonly KubeObject[], trace: CallTrace | undefined) => Promise<void>;
  /**
   * Field labels of this version that have another name in the storage version: `regarding.kind` →
   * `involvedObject.kind`.
   */
  readonly fieldLabels?: Readonly<Record<string, string>>;
}

/**
 * A storage version that differs from the definition's version. Stored as JSON. The conversion changes no argument and
 * loses nothing.
 */
interface StorageVersion {
  /** The version of the stored objects. */
  readonly version: string;
  readonly fromHub: (object: KubeObject) => KubeObject;
}

/** A version in which other servers or earlier releases have stored objects of the kind. */
export interface StoredVersion {
  readonly group: string;
  readonly version: string;
  /** The name of the kind in that version, if it differs. */
  readonly kind?: string;
  /** Converts an object of that version after defaulting. Absent if both versions have the same fields. */
  readonly toHub?: (object: KubeObject) => KubeObject;
}

export type ResourceVerb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export const allVerbs: readonly ResourceVerb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

export type SubresourceDefinition = ViewSubresource | HandledSubresource;

/** Returns the subresource with the name, which may come from a URL; undefined if the resource has none. */
export function subresourceOf(
  { subresources }: Pick<ResourceDefinition, 'subresources'>,
  name: string,
): SubresourceDefinition | undefined {
  return Object.hasOwn(subresources, name) ? subresources[name] : undefined;
}

export function hasViewSubresource(definition: Pick<ResourceDefinition, 'subresources'>, name: string): boolean {
  return subresourceOf(definition, name)?.type === 'view';
}

/**
 * A subresource that reads and writes a part of the stored object (status, scale): `view` extracts it, `put` merges a
 * changed view into the object.
 */
export interface ViewSubresource {
  readonly type: 'view';
  readonly verbs: readonly ('get' | 'update' | 'patch')[];
  /** The kind in validation errors, if it is not that of the view. */
  readonly invalidKind?: { readonly group: string; readonly kind: string };
  /** The kind of the view, if it is not that of the resource (autoscaling/v1 Scale). */
  readonly viewKind?: GroupVersionKind;
  /** The Table columns of the view, if they differ from those of the resource. */
  readonly table?: TableDefinition;
  readonly view: (object: KubeObject) => KubeObject;
  /** Paths that a write through the subresource leaves unchanged. A field manager does not own them. */
  readonly resetFields?: readonly string[];
  /** The only paths that a write through the subresource changes; a segment may be `*`. */
  readonly onlyFields?: readonly string[];
  /** The path of the object's field that the Scale shows as `spec.replicas`. */
  readonly replicas?: string;
  /** Returns the object with the submitted view merged in. Changes no argument. */
  readonly put: (object: KubeObject, view: KubeObject) => KubeObject;
  /**
   * Sets server-owned fields on a write through the subresource, as Strategy.prepareForUpdate does for the main
   * resource.
   */
  readonly prepare?: (object: KubeObject, old: KubeObject, context: StrategyContext) => void;
  /** True if a write through the subresource does not count as a generation although it changes the spec. */
  readonly keepsGeneration?: boolean;
  readonly validate?: (object: KubeObject, old: KubeObject, context: StrategyContext) => FieldError[];
  /** Replaces validate for objects whose validation takes long. */
  readonly validateInSteps?: (object: KubeObject, old: KubeObject, context: StrategyContext) => Steps<FieldError[]>;
}

/** A subresource that a method of the API group class handles (eviction, binding, log). */
export interface HandledSubresource {
  readonly type: 'handled';
  readonly verbs: readonly ('create' | 'get' | 'update' | 'patch' | 'delete')[];
  readonly kind: GroupVersionKind;
  /** Older versions of the kind that are accepted in a body and have the same fields. */
  readonly alsoVersions?: readonly string[];
  /** GET and POST open a connection (exec, proxy) and are authorized by HTTP method. */
  readonly connects?: boolean;
  /** The handler runs validating admission, on the body that it has completed or checked. */
  readonly validatesAdmission?: boolean;
  /** GET returns text instead of an object (log). `options` is the kind whose fields the query may set. */
  readonly text?: { readonly options: GroupVersionKind };
}

/** A kind that is not stored: POST computes the response (SubjectAccessReview). */
export interface VirtualResourceDefinition {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  /** True if answers name the submitted fields in metadata.managedFields. */
  readonly tracksFields?: boolean;
}

type DefinitionOptions = Pick<
  ResourceDefinition,
  'group' | 'version' | 'kind' | 'plural' | 'namespaced' | 'strategy' | 'table'
> &
  Partial<ResourceDefinition>;

/** Returns a definition with defaults for all absent properties. */
export function defineResource(options: DefinitionOptions): ResourceDefinition {
  return Object.freeze({
    listKind: `${options.kind}List`,
    singular: options.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: allVerbs,
    storagePrefix: options.plural,
    selectableFields: {},
    indexedFields: [],
    subresources: {},
    allowsCreateOnUpdate: false,
    allowsUnconditionalUpdate: true,
    returnsDeletedObject: false,
    itemsCarryType: false,
    hub: undefined,
    ...options,
  });
}

/**
 * Returns the definition of another version of a resource. Absent properties are those of the storage version; without
 * converters both versions have the same fields.
 */
export function otherVersion(
  stored: ResourceDefinition,
  options: Pick<ResourceDefinition, 'version'> &
    Partial<Omit<ResourceDefinition, 'hub'>> &
    Partial<Omit<Hub, 'stored'>>,
): ResourceDefinition {
  const { toHub = (object) => object, fromHub = (object) => object, fieldLabels, ...rest } = options;
  const { group, version, plural } = stored;
  const hub = { stored: { group, version, plural }, toHub, fromHub, ...(fieldLabels && { fieldLabels }) };
  return Object.freeze({ ...stored, ...rest, hub });
}

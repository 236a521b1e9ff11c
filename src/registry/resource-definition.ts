import type { KubeObject } from '../machinery/kube-object.js';
import type { FieldError } from '../machinery/field-error.js';
import type { GroupVersionKind } from '../machinery/gvk.js';
import type { ObjectForm } from './object-form.js';
import type { Strategy, StrategyContext } from './strategy.js';
import type { TableDefinition } from './table.js';

/**
 * A resource is data: everything the verbs need to serve one (group, version, resource).
 * Built-in kinds and kinds defined at run time are the same to them.
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
  /** Where its objects are under the root: `pods`, `services/specs`. As kube-apiserver lays keys out. */
  readonly storagePrefix: string;
  /** Field labels that field selectors may use, beside metadata.name and metadata.namespace, and how to read each. */
  readonly selectableFields: Readonly<Record<string, (object: KubeObject) => string>>;
  /** Those of them by which watches are found without looking at each. */
  readonly indexedFields: readonly string[];
  /** Set for kinds that are defined at run time. */
  readonly form?: ObjectForm;
  /** Set where objects are not stored as this version in the configured media type. */
  readonly storage?: StorageForm;
  /** Other versions of the kind in the store, beside those of its group that have the same fields. */
  readonly storedVersions?: readonly StoredVersion[];
  readonly strategy: Strategy;
  readonly table: TableDefinition;
  readonly subresources: Readonly<Record<string, SubresourceDefinition>>;
  /** Fields that a write of the whole leaves as they are, beside the status: who writes them does not own them. */
  readonly unreached?: readonly string[];
  /** Annotations that stand for fields of older versions: only whole objects show them. */
  readonly fieldAnnotations?: readonly string[];
  /** A PUT to a name that does not exist creates it. */
  readonly allowsCreateOnUpdate: boolean;
  /** A PUT without a resourceVersion overwrites. */
  readonly allowsUnconditionalUpdate: boolean;
  /** A deletion answers with the object that went, not with a Status. */
  readonly returnsDeletedObject: boolean;
  /** Items of a list say their kind and apiVersion themselves, as objects of custom kinds do. */
  readonly itemsCarryType: boolean;
  /** Set where another version of the resource is the one that is stored. */
  readonly hub: Hub | undefined;
}

/**
 * How a version that is not stored is served: its objects are views of the stored ones (ADR 005). Converters change
 * neither argument, lose nothing either way, and leave kind and apiVersion to who calls them. A strategy of its own, where
 * a version has stricter rules, works on objects as they are stored.
 */
export interface Hub {
  readonly stored: { readonly group: string; readonly version: string; readonly plural: string };
  readonly toHub: (object: KubeObject) => KubeObject;
  readonly fromHub: (object: KubeObject) => KubeObject;
  /** Field labels that this version has other names for: `regarding.kind` → `involvedObject.kind`. */
  readonly fieldLabels?: Readonly<Record<string, string>>;
}

/** How objects are stored, always as JSON. The conversion changes no argument and loses nothing. */
export interface StorageForm {
  /** The version of the stored objects. */
  readonly version: string;
  readonly fromHub: (object: KubeObject) => KubeObject;
}

/** A version in which other servers, or older ones, have stored objects of the kind. */
export interface StoredVersion {
  readonly group: string;
  readonly version: string;
  /** Where the kind had another name. */
  readonly kind?: string;
  /** Converts an object of that version, its defaults filled in. Without it both versions have the same fields. */
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

export type SubresourceDefinition = LensSubresource | HandledSubresource;

/**
 * A part of the object that is read and written on its own (status, scale). The object stays the one thing that is
 * stored; the lens shows a view of it and puts a changed view back.
 */
export interface LensSubresource {
  readonly type: 'lens';
  readonly verbs: readonly ('get' | 'update' | 'patch')[];
  /** The kind that a refusal names, where that is not the one of the view. */
  readonly invalidKind?: { readonly group: string; readonly kind: string };
  /** What the view is, where it is not of the resource's own kind (autoscaling/v1 Scale). */
  readonly viewKind?: GroupVersionKind;
  /** The columns of such a view, where they are others than those of the resource. */
  readonly table?: TableDefinition;
  readonly view: (object: KubeObject) => KubeObject;
  /** Fields that a write through it leaves as they are, by their paths: who applies them does not own them. */
  readonly unreached?: readonly string[];
  /** Where it reaches little, all that it reaches; a step may be `*`. */
  readonly reached?: readonly string[];
  /** Where the object keeps the `spec.replicas` of the view, when that is what it is for. */
  readonly replicas?: string;
  /** The whole object with the submitted view put into it. Changes neither argument. */
  readonly put: (object: KubeObject, view: KubeObject) => KubeObject;
  /** What only the server sets when this part changes, as Strategy.prepareForUpdate does for the whole. */
  readonly prepare?: (object: KubeObject, old: KubeObject, context: StrategyContext) => void;
  readonly validate?: (object: KubeObject, old: KubeObject, context: StrategyContext) => FieldError[];
}

/** An operation of its own under the resource (eviction, binding, log): an API group class handles it. */
export interface HandledSubresource {
  readonly type: 'handled';
  readonly verbs: readonly ('create' | 'get' | 'update' | 'patch' | 'delete')[];
  readonly kind: GroupVersionKind;
  /** Older versions of the kind that a body may be of, where nothing but their name is different. */
  readonly alsoVersions?: readonly string[];
  /** GET and POST open a connection (exec, proxy) and are authorized by HTTP method. */
  readonly connects?: boolean;
  /** GET answers with text, not with an object (log); `options` is the kind whose fields may stand in the query. */
  readonly text?: { readonly options: GroupVersionKind };
}

/** A kind that is not stored: a POST that computes an answer (a review). */
export interface VirtualResourceDefinition {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
}

type Given = Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'plural' | 'namespaced' | 'strategy' | 'table'> &
  Partial<ResourceDefinition>;

/** A definition with the usual values for what is not said. */
export function defineResource(given: Given): ResourceDefinition {
  return Object.freeze({
    listKind: `${given.kind}List`,
    singular: given.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: allVerbs,
    storagePrefix: given.plural,
    selectableFields: {},
    indexedFields: [],
    subresources: {},
    allowsCreateOnUpdate: false,
    allowsUnconditionalUpdate: true,
    returnsDeletedObject: false,
    itemsCarryType: false,
    hub: undefined,
    ...given,
  });
}

/** The same resource under another version: what is not said is as in the stored one, and nothing is converted. */
export function otherVersion(
  stored: ResourceDefinition,
  given: Pick<ResourceDefinition, 'version'> & Partial<Omit<ResourceDefinition, 'hub'>> & Partial<Omit<Hub, 'stored'>>,
): ResourceDefinition {
  const { toHub = (object) => object, fromHub = (object) => object, fieldLabels, ...rest } = given;
  const { group, version, plural } = stored;
  const hub = { stored: { group, version, plural }, toHub, fromHub, ...(fieldLabels && { fieldLabels }) };
  return Object.freeze({ ...stored, ...rest, hub });
}

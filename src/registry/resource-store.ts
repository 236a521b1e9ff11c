import type { EncodedObject } from '../cache/encoded-object.js';
import type { Caller, Feed } from '../cache/feed.js';
import type { WatchCache } from '../cache/watch-cache.js';
import type { FeatureGates } from '../config/feature-gates.js';
import type { NamingProfile } from '../config/naming-profile.js';
import { ApiError } from '../machinery/api-error.js';
import type { FieldError } from '../machinery/field-error.js';
import type { GroupResource } from '../machinery/gvk.js';
import type { JsonObject, KubeObject } from '../machinery/kube-object.js';
import { noRevision, type Revision } from '../machinery/revision.js';
import type { StructType } from '../machinery/type-model.js';
import { applyDefaults } from '../typed/defaults.js';
import { dropEmpties } from '../typed/empties.js';
import type { GatedFields } from '../typed/gated-fields.js';
import type { CallOptions, KeyValue, KvStore, Write } from '../storage/kv-store.js';
import { UntransformableError, type ValueTransforms } from '../storage/value-transforms.js';
import type { DeclaredValidation } from './write/declared-validation.js';
import { FieldOwnership } from './write/field-ownership.js';
import { readFresh, servesAnyState } from './read/freshness.js';
import { objectCodec, type ObjectCodec } from './stored/object-codec.js';
import type { Steps } from '../std/steps.js';
import { StoredValues, type StoredValuesOptions } from './stored/stored-values.js';
import type { Reservation, Reserve } from './write/reservation.js';
import type { ResourceDefinition } from './definition/resource-definition.js';
import { fromStore } from './storage-to-api-error.js';
import { canonicalObject } from './write/submitted-object.js';
import type { WriteContext } from './write/write-context.js';
import type { Sources } from './write/system-fields.js';
import { UnchangedApplies } from './write/unchanged-applies.js';
import { WriteTurns } from './write/write-turns.js';

interface StoreLimits {
  /** Bounds of WriteTurns. */
  readonly writersWaitingMax: number;
  readonly writeTurnMsMax: number;
  /** The time that a read waits for a revision that the cache has not reached. */
  readonly freshnessTimeoutMs: number;
  readonly generateNameRetriesMax: number;
  readonly jsonPatchOperationsMax: number;
  readonly requestValuesMax: number;
  /** The number of objects per read of the store when an old revision is listed. */
  readonly historyPageItems: number;
}

export interface StoreDependencies extends Sources, StoredValuesOptions {
  /** Fields that are dropped because their feature gate is off. */
  readonly gatedFields?: GatedFields;
  readonly declaredValidation?: DeclaredValidation;
  /** Absent: all gates are off. */
  readonly featureGates?: FeatureGates;
  readonly naming: NamingProfile;
  readonly kv: KvStore;
  /** Set with encryption at rest. `kv` applies it. */
  readonly transforms?: ValueTransforms | undefined;
  /** True if errors of objects that cannot be decrypted say that they may be deleted: with the gate for it. */
  readonly describesCorruption?: boolean;
  readonly feed: Feed;
  /** `/registry/` */
  readonly root: string;
  readonly limits: StoreLimits;
}

/** The state on which a write is based: the stored object, if any, and its revision. */
export interface Current {
  readonly encoded: EncodedObject | undefined;
  readonly revision: Revision;
  /** True if the state comes from the cache and may be stale. Errors based on it are checked against the store. */
  readonly cached: boolean;
}

/**
 * The objects of one resource. Reads are served by the cache, writes go to the store. Its operations are functions:
 * createObject, updateObject and deleteObject in write/, listObjects and watchObjects in read/.
 */
export class ResourceStore {
  readonly codec: ObjectCodec;
  readonly cache: WatchCache;
  readonly groupResource: GroupResource;
  /** The type of the storage version; undefined for custom kinds. */
  readonly type: StructType | undefined;
  readonly ownership: FieldOwnership;
  readonly unchangedApplies = new UnchangedApplies();
  /** Orders concurrent updates of one object; creates and deletes do not wait. */
  readonly turns: WriteTurns;
  /** Set if writes reserve something outside of their objects. */
  reserve: Reserve | undefined = undefined;
  private readonly prefix: string;

  constructor(
    readonly definition: ResourceDefinition,
    readonly dependencies: StoreDependencies,
  ) {
    this.turns = new WriteTurns(dependencies.clock, {
      waitingMax: dependencies.limits.writersWaitingMax,
      turnMsMax: dependencies.limits.writeTurnMsMax,
    });
    this.prefix = `${dependencies.root}${definition.storagePrefix}/`;
    this.codec = objectCodec(definition, {
      values: new StoredValues(definition, dependencies, (object) => this.fillDefaults(object)),
      keyOf: (namespace, name) => this.keyOf(namespace, name),
    });
    this.type = definition.customType
      ? undefined
      : dependencies.types.kind(definition.group, definition.version, definition.kind);
    this.ownership = new FieldOwnership(dependencies.types, dependencies.naming);
    this.ownership.add(definition, this.type);
    this.groupResource = { group: definition.group, resource: definition.plural };
    dependencies.transforms?.addResource(this.prefix, this.groupResource);
    this.cache = dependencies.feed.addResource({
      prefix: this.prefix,
      decode: this.codec.decode,
      indexedFields: definition.indexedFields,
    });
  }

  keyOf(namespace: string, name: string): string {
    return this.definition.namespaced ? `${this.prefix}${namespace}/${name}` : this.prefix + name;
  }

  /** Returns the key prefix of the resource, or of one namespace. */
  scopeOf(namespace: string): string {
    return this.definition.namespaced && namespace !== '' ? `${this.prefix}${namespace}/` : this.prefix;
  }

  /**
   * Reads an object. `resourceVersion` as in the request: undefined is the most recent, '0' is any. Returns a promise only
   * if it must wait.
   */
  get(
    namespace: string,
    name: string,
    { resourceVersion, caller }: { readonly resourceVersion?: string | undefined; readonly caller?: Caller } = {},
  ): EncodedObject | Promise<EncodedObject> {
    if (servesAnyState(this.dependencies, this.cache, resourceVersion, caller)) return this.cached(namespace, name);
    return readFresh(this.dependencies, this.cache, resourceVersion, caller).then(() => this.cached(namespace, name));
  }

  /** Returns the cached object without waiting for freshness. */
  cached(namespace: string, name: string): EncodedObject {
    const found = this.cache.get(this.keyOf(namespace, name));
    if (found === undefined) throw ApiError.notFound(this.groupResource, name);
    return this.readable(found);
  }

  /** Merges handwritten validation errors with those of the rules that the type declares. */
  mergeDeclaredErrors(
    object: KubeObject,
    old: KubeObject | undefined,
    handwritten: readonly FieldError[],
  ): readonly FieldError[] {
    const { declaredValidation } = this.dependencies;
    return this.type && declaredValidation
      ? declaredValidation.mergeErrors(this.type, object, old, handwritten)
      : handwritten;
  }

  /** Fills in the defaults of the type, then those of the kind's strategy. */
  fillDefaults(object: KubeObject): void {
    this.fillTypeDefaults(object);
    this.fillKindDefaults(object);
  }

  /** The first half of fillDefaults(), for callers that yield to other requests in between. */
  fillTypeDefaults(object: KubeObject): void {
    if (this.type) applyDefaults(object as unknown as JsonObject, this.type);
  }

  fillKindDefaults(object: KubeObject): void {
    this.definition.strategy.default?.(object);
  }

  /** Removes fields whose feature gate is off, unless the old object has them. */
  dropGated(object: KubeObject, old: KubeObject | undefined): void {
    if (!this.type) return;
    this.dependencies.gatedFields?.drop(
      object as unknown as JsonObject,
      old as unknown as JsonObject | undefined,
      this.type,
    );
  }

  /** Returns the object as it is stored: without empty fields that its type omits, with those that it always writes. */
  canonical(object: KubeObject): KubeObject {
    return this.type ? canonicalObject(object, this.type) : (this.definition.customType?.canonical(object) ?? object);
  }

  /** Sets metadata.managedFields of `next` if the write tracks them. */
  *track(
    live: KubeObject | undefined,
    next: KubeObject,
    { request, managedFields }: WriteContext,
    time: string,
  ): Steps<void> {
    if (managedFields.mode !== 'track') return this.forgetEmpties(next);
    const { definition, subresource } = managedFields;
    const writer = { definition, subresource, manager: request.fieldManager, time };
    const tracked = yield* this.ownership.trackUpdate(writer, live, next);
    if (tracked) next.metadata.managedFields = tracked;
    else delete next.metadata.managedFields;
    this.forgetEmpties(next);
  }

  private forgetEmpties(object: KubeObject): void {
    if (this.type) dropEmpties(object as unknown as JsonObject, this.type);
  }

  /**
   * Rejects an update of an object with fields that this server does not know, since a write would drop them. An object
   * that is being deleted may be updated, to remove its finalizers (ADR 022).
   */
  checkRewritable(encoded: EncodedObject): void {
    if (!encoded.attributes.lifetime?.isDeleting) this.checkLossless(encoded);
  }

  /** Rejects a write without changes of an object that cannot be decoded or would lose fields. */
  checkLossless(encoded: EncodedObject): void {
    const { key, unknownFields } = this.readable(encoded);
    if (unknownFields.length === 0) return;
    const shown = unknownFields.slice(0, unknownFieldsShown).join(', ');
    const more = unknownFields.length > unknownFieldsShown ? ', …' : '';
    throw ApiError.internal(
      `the object stored under ${key} has fields that this server does not know (${shown}${more}) and would lose: ` +
        'write it through a server that knows them, or delete it',
    );
  }

  cachedCurrent(key: string): Current {
    const encoded = this.cache.get(key);
    return { encoded: encoded && this.readable(encoded), revision: encoded?.revision ?? noRevision, cached: true };
  }

  async storedCurrent(key: string, caller: Caller | undefined): Promise<Current> {
    caller?.steps?.begin('store');
    caller?.steps?.trace?.describe(this.callAttributes('get', key, 1));
    const { item } = await fromStore(this.dependencies.kv.get(key, callOptions(caller)));
    caller?.steps?.begin('handling');
    return this.currentOf(item);
  }

  /**
   * Reads the stored state of an object that a write would leave unchanged. `isStale` is true if the stored value is
   * encrypted with another key than a write would use. Undefined if the resource is not encrypted.
   */
  async encryptedCurrent(
    key: string,
    caller: Caller,
  ): Promise<{ readonly current: Current; readonly isStale: boolean } | undefined> {
    const { transforms, kv } = this.dependencies;
    if (!transforms?.of(key)) return undefined;
    caller.steps?.begin('store');
    caller.steps?.trace?.describe(this.callAttributes('get', key, 1));
    const { item } = await fromStore(kv.get(key, callOptions(caller)));
    caller.steps?.begin('handling');
    return { current: this.currentOf(item), isStale: item?.isStale === true };
  }

  /**
   * Writes the object and its reservation in one transaction if `key` is still at `expected`; otherwise returns the
   * stored state. The state is unchanged if only a reserved key has changed.
   */
  async commit(
    write: Write,
    expected: Revision,
    caller: Caller | undefined,
    reservation?: Reservation,
  ): Promise<{ readonly revision: Revision } | { readonly newer: Current }> {
    const compares = [{ key: write.key, modRevision: expected }, ...(reservation?.compares ?? [])];
    const writes = reservation ? [write, ...reservation.writes] : [write];
    caller?.steps?.begin('store');
    caller?.steps?.trace?.describe(this.callAttributes('txn', write.key, writes.length));
    const result = await fromStore(this.dependencies.kv.txn(compares, writes, callOptions(caller)));
    caller?.steps?.begin('handling');
    if (result.succeeded) {
      await reservation?.committed(result.revision);
      return { revision: result.revision };
    }
    const [item, ...others] = result.current;
    reservation?.conflicted(others, result.revision);
    // A create only needs to know that there is an object: it may be unreadable.
    if (item && expected === noRevision) {
      return { newer: { encoded: this.decoded(item), revision: item.modRevision, cached: false } };
    }
    return { newer: this.currentOf(item) };
  }

  /** Describes a call of the store for its span. */
  callAttributes(operation: 'get' | 'range' | 'txn', key: string, keys: number) {
    const { group, plural, kind } = this.definition;
    return { operation, key, keys, type: kind, group, resource: plural };
  }

  /** Throws InternalError for an object that cannot be decoded or decrypted. */
  private readable(encoded: EncodedObject): EncodedObject {
    const { key, corruption } = encoded;
    if (corruption === undefined) return encoded;
    if (!(corruption instanceof UntransformableError)) {
      throw ApiError.internal(`the object stored under ${key} cannot be read: ${corruption.message}`, corruption);
    }
    const { describesCorruption, root } = this.dependencies;
    // As in kube-apiserver, whose keys in errors begin behind the prefix of etcd.
    const text = describesCorruption
      ? `StorageError: corrupt object, Code: 7, Key: /${key.slice(root.length)}, ResourceVersion: 0, ` +
        `AdditionalErrorMsg: data from the storage is not transformable revision=0: ${corruption.message}`
      : corruption.message;
    throw ApiError.internal(text, corruption);
  }

  /** Reuses the cached object if it has the same revision: decoding a large one is slow. */
  private decoded(item: KeyValue): EncodedObject {
    const cached = this.cache.get(item.key);
    return cached?.revision === item.modRevision ? cached : this.codec.decode(item);
  }

  private currentOf(item: KeyValue | undefined): Current {
    const encoded = item && this.readable(this.decoded(item));
    return { encoded, revision: encoded?.revision ?? noRevision, cached: false };
  }
}

/** Returns what a call of the store needs of the request that it works for. */
export const callOptions = (caller: Caller | undefined): CallOptions | undefined =>
  caller && { signal: caller.signal, trace: caller.steps?.trace };

const unknownFieldsShown = 5;

/**
 * True if an error may be due to a stale cached state, so that it should be checked on the stored state. Errors of the
 * store are not retried: the write may have been made although its response was lost, and a retry would see its own
 * write as a conflict.
 */
export function mayBeStale(error: unknown): boolean {
  return error instanceof ApiError && error.code < 500;
}

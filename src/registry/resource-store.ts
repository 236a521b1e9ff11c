import type { EncodedObject } from '../cache/encoded-object.js';
import type { Feed } from '../cache/feed.js';
import type { WatchCache } from '../cache/watch-cache.js';
import type { NamingProfile } from '../config/naming-profile.js';
import { ApiError } from '../machinery/api-error.js';
import type { FieldError } from '../machinery/field-error.js';
import type { GroupResource } from '../machinery/gvk.js';
import type { JsonObject, KubeObject } from '../machinery/kube-object.js';
import { noRevision, type Revision } from '../machinery/revision.js';
import type { StructType } from '../machinery/type-model.js';
import { applyDefaults } from '../schema/defaults.js';
import { forgetEmpties } from '../schema/empties.js';
import type { GatedFields } from '../schema/gated-fields.js';
import type { KeyValue, KvStore, Write } from '../storage/kv-store.js';
import type { DeclaredValidation } from './declared-validation.js';
import { FieldOwnership } from './field-ownership.js';
import { readFresh } from './freshness.js';
import { objectCodec, type ObjectCodec } from './object-codec.js';
import type { Steps } from '../std/steps.js';
import { StoredValues, type StoredValuesParts } from './stored-values.js';
import type { Reservation, Reserve } from './reservation.js';
import type { ResourceDefinition } from './resource-definition.js';
import { fromStore } from './storage-to-api-error.js';
import { canonicalObject } from './submitted-object.js';
import type { WriteContext } from './write-context.js';
import type { Sources } from './system-fields.js';
import { WriteTurns } from './write-turns.js';

export interface StoreLimits {
  /** How often a write is tried again when another writer was faster. */
  readonly writeConflictRetriesMax: number;
  /** How many writers may wait for one object, and how long each keeps the next one waiting. */
  readonly writersWaitingMax: number;
  readonly writeTurnMsMax: number;
  /** How long a read waits for a revision that has not been seen yet. */
  readonly freshnessTimeoutMs: number;
  readonly generateNameRetriesMax: number;
  readonly jsonPatchOperationsMax: number;
  readonly requestValuesMax: number;
  /** How many objects one read of the store brings when an old state is listed. */
  readonly historyPageItems: number;
}

export interface StoreParts extends Sources, StoredValuesParts {
  /** What is dropped of objects because a feature is switched off. */
  readonly gatedFields?: GatedFields;
  readonly declaredValidation?: DeclaredValidation;
  readonly naming: NamingProfile;
  readonly kv: KvStore;
  readonly feed: Feed;
  /** `/registry/` */
  readonly root: string;
  readonly limits: StoreLimits;
}

/** The state a write starts from: what is stored under a key, and at which revision. */
export interface Current {
  readonly encoded: EncodedObject | undefined;
  readonly revision: Revision;
  /** From the cache, so perhaps not the latest. What it leads to is only believed when the store agrees. */
  readonly cached: boolean;
}

/**
 * The objects of one resource: bytes in the store, the same bytes in the cache. Reads come from the cache once it is
 * fresh enough, writes go to the store alone; create.ts, update.ts, delete.ts and list.ts are its verbs.
 */
export class ResourceStore {
  readonly codec: ObjectCodec;
  readonly cache: WatchCache;
  readonly groupResource: GroupResource;
  /** Of the stored version; undefined for kinds that are not built in. */
  readonly type: StructType | undefined;
  readonly ownership: FieldOwnership;
  /** Of updates; creates and deletes do not wait. */
  readonly turns: WriteTurns;
  /** Set where writes take something from outside of their objects. */
  reserve: Reserve | undefined = undefined;
  private readonly prefix: string;

  constructor(
    readonly definition: ResourceDefinition,
    readonly parts: StoreParts,
  ) {
    this.turns = new WriteTurns(parts.clock, {
      waitingMax: parts.limits.writersWaitingMax,
      turnMsMax: parts.limits.writeTurnMsMax,
    });
    this.prefix = `${parts.root}${definition.storagePrefix}/`;
    this.codec = objectCodec(definition, {
      values: new StoredValues(definition, parts, (object) => this.fillDefaults(object)),
      keyOf: (namespace, name) => this.keyOf(namespace, name),
    });
    this.type = definition.form ? undefined : parts.types.kind(definition.group, definition.version, definition.kind);
    this.ownership = new FieldOwnership(parts.types, parts.naming);
    this.ownership.add(definition, this.type);
    this.groupResource = { group: definition.group, resource: definition.plural };
    this.cache = parts.feed.addResource({
      prefix: this.prefix,
      decode: this.codec.decode,
      indexedFields: definition.indexedFields,
    });
  }

  keyOf(namespace: string, name: string): string {
    return this.definition.namespaced ? `${this.prefix}${namespace}/${name}` : this.prefix + name;
  }

  /** All keys of the resource, or of one namespace of it. */
  scopeOf(namespace: string): string {
    return this.definition.namespaced && namespace !== '' ? `${this.prefix}${namespace}/` : this.prefix;
  }

  /** `resourceVersion` as the client sent it: undefined is the most recent, '0' is any. */
  async get(
    namespace: string,
    name: string,
    options: { resourceVersion?: string | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<EncodedObject> {
    await readFresh(this.parts, this.cache, options.resourceVersion, options.signal);
    return this.cached(namespace, name);
  }

  /** What the cache holds now, without waiting for anything. */
  cached(namespace: string, name: string): EncodedObject {
    const found = this.cache.get(this.keyOf(namespace, name));
    if (found === undefined) throw ApiError.notFound(this.groupResource, name);
    return readable(found);
  }

  /** The errors of a write, where the type says some of the rules itself. */
  settle(object: KubeObject, old: KubeObject | undefined, byHand: readonly FieldError[]): readonly FieldError[] {
    const { declaredValidation } = this.parts;
    return this.type && declaredValidation ? declaredValidation.settle(this.type, object, old, byHand) : byHand;
  }

  /** Fills in what a client left out: what its type says first, then what the kind decides by itself. */
  fillDefaults(object: KubeObject): void {
    this.fillTypeDefaults(object);
    this.fillKindDefaults(object);
  }

  /** The first half of fillDefaults(), for writes that let other requests run in between. */
  fillTypeDefaults(object: KubeObject): void {
    if (this.type) applyDefaults(object as unknown as JsonObject, this.type);
  }

  fillKindDefaults(object: KubeObject): void {
    this.definition.strategy.default?.(object);
  }

  /** Takes out what belongs to features that are switched off, unless the object had it before. */
  dropGated(object: KubeObject, old: KubeObject | undefined): void {
    if (!this.type) return;
    this.parts.gatedFields?.drop(object as unknown as JsonObject, old as unknown as JsonObject | undefined, this.type);
  }

  /** The object as it is stored: with nothing that its type does not write, and all that it always writes. */
  canonical(object: KubeObject): KubeObject {
    return this.type ? canonicalObject(object, this.type) : (this.definition.form?.canonical(object) ?? object);
  }

  /** Notes whose the fields of `next` are, for writes that are to be recorded. */
  *track(
    live: KubeObject | undefined,
    next: KubeObject,
    { request, through }: WriteContext,
    time: string,
  ): Steps<void> {
    if (!through) return this.forgetEmpties(next);
    const managedFields = yield* this.ownership.tracked(
      { ...through, manager: request.fieldManager, time },
      live,
      next,
    );
    if (managedFields) next.metadata.managedFields = managedFields;
    else delete next.metadata.managedFields;
    this.forgetEmpties(next);
  }

  private forgetEmpties(object: KubeObject): void {
    if (this.type) forgetEmpties(object as unknown as JsonObject, this.type);
  }

  /**
   * Refuses to rewrite an object with fields that this server does not know, because a write would drop them. An object
   * that is being deleted may be rewritten: its finalizers have to go (ADR 022).
   */
  checkRewritable({ key, unknownFields, attributes }: EncodedObject): void {
    if (unknownFields.length === 0 || attributes.lifetime?.isDeleting) return;
    const shown = unknownFields.slice(0, unknownFieldsShown).join(', ');
    const more = unknownFields.length > unknownFieldsShown ? ', …' : '';
    throw ApiError.internal(
      `the object stored under ${key} has fields that this server does not know (${shown}${more}) and would lose: ` +
        'write it through a server that knows them, or delete it',
    );
  }

  cachedCurrent(key: string): Current {
    const encoded = this.cache.get(key);
    return { encoded: encoded && readable(encoded), revision: encoded?.revision ?? noRevision, cached: true };
  }

  async storedCurrent(key: string, signal: AbortSignal | undefined): Promise<Current> {
    const { item } = await fromStore(this.parts.kv.get(key, signal && { signal }));
    return this.currentOf(item);
  }

  /**
   * Makes the one write of a request, with what it has reserved, if the key is still at `expected`; otherwise tells what
   * is there. That is the same as before when only the reservation was lost.
   */
  async commit(
    write: Write,
    expected: Revision,
    signal: AbortSignal | undefined,
    reservation?: Reservation,
  ): Promise<{ readonly revision: Revision } | { readonly newer: Current }> {
    const compares = [{ key: write.key, modRevision: expected }, ...(reservation?.compares ?? [])];
    const writes = reservation ? [write, ...reservation.writes] : [write];
    const result = await fromStore(this.parts.kv.txn(compares, writes, signal && { signal }));
    if (result.succeeded) {
      await reservation?.made(result.revision);
      return { revision: result.revision };
    }
    const [item, ...others] = result.current;
    reservation?.lost(others, result.revision);
    return { newer: this.currentOf(item) };
  }

  /** The cache has decoded most states before; a large one takes long. */
  private decoded(item: KeyValue): EncodedObject {
    const cached = this.cache.get(item.key);
    return cached?.revision === item.modRevision ? cached : this.codec.decode(item);
  }

  private currentOf(item: KeyValue | undefined): Current {
    const encoded = item && readable(this.decoded(item));
    return { encoded, revision: encoded?.revision ?? noRevision, cached: false };
  }
}

const unknownFieldsShown = 5;

/** An object that cannot be decoded is there, but nothing can be said of it. */
function readable(encoded: EncodedObject): EncodedObject {
  if (encoded.corruption !== undefined) {
    throw ApiError.internal(
      `the object stored under ${encoded.key} cannot be read: ${encoded.corruption.message}`,
      encoded.corruption,
    );
  }
  return encoded;
}

/**
 * Whether a refusal may only be due to the state it was decided on. What the store itself has failed at is not: its
 * write may have been made although its answer was lost, and trying again would take our own work for another's.
 */
export function mayBeStale(error: unknown): boolean {
  return error instanceof ApiError && error.code < 500;
}

import { decodeJson, decodeJsonInSteps } from '../codec/json.js';
import { metadataStart, spliceResourceVersion, SplicedValue } from '../codec/stored-object.js';
import type { Status } from '../machinery/api-error.js';
import type { KubeObject, OwnerReference } from '../machinery/kube-object.js';
import type { Revision } from '../machinery/revision.js';
import { copyBytes } from '../std/copy-bytes.js';
import type { Steps } from '../std/steps.js';
import { unpooled } from '../std/unpooled.js';
import type { DeferredValue, KeyValue, ValueKeeper } from '../storage/kv-store.js';
import { StorageError } from '../storage/storage-error.js';
import { BytesInStore } from './bytes-in-store.js';
import { CompressedBytes } from './compressed-block.js';
import type { RenderedObject } from './rendering-memory.js';
import { DeferredBytes, type Home, type ObjectSlab, type Resident } from './resident.js';

/** Properties of an object that selectors and the garbage collector read without parsing it. */
export interface Attributes {
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** The selectable fields of the kind. */
  readonly fields: Readonly<Record<string, string>>;
  /** Absent for objects without ownerReferences, finalizers and deletionTimestamp, which are most. */
  readonly lifetime?: Lifetime | undefined;
}

/** The metadata that decides when an object is removed. */
export interface Lifetime {
  readonly owners: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  readonly isDeleting: boolean;
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** Encodes objects for clients by media type, version and shape (object, PartialObjectMetadata or Table). */
export interface Rendering {
  /** Renderings with equal ids produce equal bytes. The bytes of `json` are those of the cache. */
  readonly id: string;
  /** Set for bytes that contain ages: they are valid while this value stays the same. */
  readonly timeBucket?: () => number;
  /** True for bytes that are costly to compute: objects keep them longer than others. */
  readonly isPinned?: boolean;
  /** `parsed` is the parsed object, if the caller has it. Throws NotReady if another server must convert it first. */
  render(object: EncodedObject, parsed?: KubeObject): Buffer;
  frame(type: WatchEventType, body: Buffer): Buffer;
  /** Returns a complete frame. */
  bookmark(revision: Revision, initialEventsEnd: boolean): Buffer;
  /** Returns a complete frame. */
  error(status: Status): Buffer;
}

/** Converts a stored value to a cache entry. Parses it once, for its attributes. */
export type Decode = (item: KeyValue) => EncodedObject;

const nothing: readonly string[] = [];
const noBytes = Buffer.alloc(0);

/** Larger objects are parsed in a step of their own, so that other requests run before they are encoded. */
const largeBytesMin = 64 * 1024;

// Few renderings are in use at a time (JSON, protobuf, metadata, Table). Clients cannot make an object keep more.
const renderingsMax = 4;

interface KeptRendering {
  readonly id: string;
  readonly bytes: Buffer;
  readonly isPinned: boolean;
}

/** Properties that few objects have. */
interface Exception {
  corruption: Error | undefined;
  isOutdated: boolean;
  unknownFields: readonly string[];
  storedBytes: number;
}

/** One state of an object as bytes. Immutable, except for the place of the bytes and the renderings it keeps. */
export class EncodedObject implements Resident, RenderedObject, ValueKeeper {
  readonly byteLength: number;
  slab: ObjectSlab | undefined = undefined;
  slot = -1;
  private start = 0;
  /** The bytes, unless they are in a slab. */
  private own: Buffer | SplicedValue | DeferredBytes | undefined;
  /** Set if the bytes can be read elsewhere, so that they need not stay in memory. */
  private elsewhere: DeferredBytes | undefined = undefined;
  private isWarm = true;
  private exception: Exception | undefined = undefined;
  private renderings: KeptRendering[] | undefined = undefined;
  renderedAt = 0;
  /** The cache and the store that keep this state. */
  private holders = 0;

  constructor(
    readonly key: string,
    readonly revision: Revision,
    /** JSON with the resourceVersion. */
    bytes: Buffer | SplicedValue | DeferredBytes,
    readonly attributes: Attributes,
    corruption?: Error,
  ) {
    this.own = bytes;
    this.byteLength = bytes.length;
    if (corruption) this.exceptional.corruption = corruption;
  }

  /** JSON with the resourceVersion. */
  get bytes(): Buffer {
    const { slab, start } = this;
    this.isWarm = true;
    return slab ? slab.memory.subarray(start, start + this.byteLength) : this.ownBytes();
  }

  private ownBytes(): Buffer {
    if (this.own instanceof DeferredBytes) return this.fetched(this.own);
    if (this.own instanceof SplicedValue) this.own = this.own.toBuffer();
    return this.own!;
  }

  /** Reads the bytes into memory. An object whose stored value is damaged is an unreadable one from then on. */
  private fetched(deferred: DeferredBytes): Buffer {
    if (this.corruption) throw this.corruption;
    this.elsewhere = deferred;
    const bytes = this.readDeferred(deferred);
    if (deferred instanceof CompressedBytes) {
      if (this.slab) return this.bytes;
      if (this.holders > 0) return bytes;
      this.own = unpooled(bytes, 2);
      return this.own;
    }
    this.own = bytes;
    if (this.holders > 0) deferred.home?.add(this);
    return this.bytes;
  }

  private readDeferred(deferred: DeferredBytes): Buffer {
    try {
      return deferred.read(this.key, this.revision);
    } catch (error) {
      if (error instanceof StorageError && error.code === 'corrupt') this.exceptional.corruption = error;
      throw error;
    }
  }

  /** Reads bytes that are in the store only, which need not keep them for longer. */
  fetch(): void {
    if (this.own instanceof BytesInStore) this.fetched(this.own);
    if (this.elsewhere instanceof BytesInStore) this.elsewhere = undefined;
  }

  /** Allows that the bytes leave memory and are read again: `value`, if it gives them exactly. */
  mayReread(value: Buffer, read: DeferredValue['read']): void {
    if (this.isStoredAs(value)) this.elsewhere = new BytesInStore(this.byteLength, read);
  }

  get isInMemory(): boolean {
    return !(this.own instanceof DeferredBytes);
  }

  /** Compares bytes in memory, without a sign that somebody reads them. */
  hasBytes(other: Buffer): boolean {
    const { isWarm } = this;
    const isEqual = this.bytes.equals(other);
    this.isWarm = isWarm;
    return isEqual;
  }

  leaveIfCold(): boolean {
    const { isWarm, elsewhere } = this;
    this.isWarm = false;
    if (isWarm) return false;
    if (elsewhere) this.leave(elsewhere);
    return !elsewhere;
  }

  get isCold(): boolean {
    return !this.isWarm && !this.elsewhere && this.slot >= 0;
  }

  leaveFor(compressed: CompressedBytes): void {
    this.elsewhere = compressed;
    this.leave(compressed);
  }

  private leave(deferred: DeferredBytes): void {
    deferred.home = this.slab?.home;
    this.slab?.home.remove(this);
    this.slab = undefined;
    this.own = deferred;
  }

  returnFrom(block: Buffer): void {
    const { own } = this;
    if (!(own instanceof CompressedBytes)) return;
    this.own = own.of(block);
    own.home?.add(this);
  }

  leaveBlock(block: Buffer): void {
    this.returnFrom(block);
    this.elsewhere = undefined;
  }

  /** Copies all bytes into a slab, with room for them. */
  copyInto(memory: Buffer, at: number): void {
    const { slab, start, byteLength, own } = this;
    if (slab) copyBytes(slab.memory, memory, at, start, start + byteLength);
    else if (own instanceof SplicedValue) own.copy(memory, at);
    else copyBytes(this.ownBytes(), memory, at);
  }

  /** The byte at a position of `bytes`, without a view of them. */
  byteAt(position: number): number | undefined {
    const { slab, start } = this;
    this.isWarm = true;
    return slab ? slab.memory[start + position] : this.ownBytes()[position];
  }

  /** Copies `bytes` from a position on, without a view of them. Returns their number. */
  copyTo(target: Buffer, at: number, from: number): number {
    const { slab, start, byteLength } = this;
    this.isWarm = true;
    return slab
      ? copyBytes(slab.memory, target, at, start + from, start + byteLength)
      : copyBytes(this.ownBytes(), target, at, from);
  }

  settle(slab: ObjectSlab, start: number): void {
    this.slab = slab;
    this.start = start;
    this.own = undefined;
  }

  /** The decoding error. Reads of the object fail with it, lists report it, and watches skip the object. */
  get corruption(): Error | undefined {
    return this.exception?.corruption;
  }

  /**
   * True if the stored bytes are of an older version or encoding: the next write updates them even without other
   * changes.
   */
  get isOutdated(): boolean {
    return this.exception?.isOutdated ?? false;
  }
  set isOutdated(isOutdated: boolean) {
    this.exceptional.isOutdated = isOutdated;
  }

  /** Fields of the stored value that this server does not know. A write of the object would drop them. */
  get unknownFields(): readonly string[] {
    return this.exception?.unknownFields ?? nothing;
  }
  set unknownFields(fields: readonly string[]) {
    this.exceptional.unknownFields = fields;
  }

  /** The size of a value that cannot be decoded. */
  get storedBytes(): number {
    return this.exception?.storedBytes ?? 0;
  }

  private get exceptional(): Exception {
    this.exception ??= { corruption: undefined, isOutdated: false, unknownFields: nothing, storedBytes: 0 };
    return this.exception;
  }

  /** Called by a cache or store that keeps this state from now on. With a home, the bytes move there. */
  hold(home?: Home): void {
    this.holders++;
    if (this.own instanceof DeferredBytes) {
      this.own.home ??= home;
      return;
    }
    home?.add(this);
    this.detach();
  }

  /** Copies bytes that are still a view of what the store has read at once, which would otherwise stay in memory. */
  detach(): void {
    if (this.own instanceof SplicedValue) this.own = this.own.toBuffer();
  }

  /** Called by a cache or store that no longer keeps it. Readers may still have it. */
  release(): void {
    this.holders--;
    if (this.holders > 0) return;
    this.slab?.home.remove(this);
    this.elsewhere?.forget();
  }

  /** True if storedValue() returns these bytes. */
  isStoredAs(value: Buffer): boolean {
    const at = this.stampStart();
    const { bytes } = this;
    const end = at + this.stampLength(bytes, at);
    return (
      at >= 0 &&
      bytes.length - (end - at) === value.length &&
      bytes.compare(value, 0, at, 0, at) === 0 &&
      bytes.compare(value, at, value.length, end) === 0
    );
  }

  /** The bytes without the resourceVersion, which spliceResourceVersion() has inserted. */
  storedValue(): Buffer {
    const { bytes } = this;
    const at = this.stampStart();
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + this.stampLength(bytes, at))]);
  }

  static corrupt(
    { key, modRevision, value }: Pick<KeyValue, 'key' | 'modRevision' | 'value'>,
    error: Error,
  ): EncodedObject {
    const end = key.lastIndexOf('/');
    const name = key.slice(end + 1);
    const namespace = key.slice(key.lastIndexOf('/', end - 1) + 1, end);
    const attributes = { namespace, name, labels: undefined, fields: {} };
    const corrupt = new EncodedObject(key, modRevision, noBytes, attributes, error);
    corrupt.exceptional.storedBytes = value.length;
    return corrupt;
  }

  /** Returns a new copy on every call, which the caller may change. */
  parse(): KubeObject {
    if (this.corruption) throw this.corruption;
    return decodeJson(this.bytes) as unknown as KubeObject;
  }

  /** parse() in steps. */
  *parseInSteps(): Steps<KubeObject> {
    if (this.corruption) throw this.corruption;
    return (yield* decodeJsonInSteps(this.bytes.toString())) as unknown as KubeObject;
  }

  get isLarge(): boolean {
    return this.byteLength >= largeBytesMin;
  }

  hasRendering({ id }: Rendering): boolean {
    return this.renderings?.some((other) => other.id === id) ?? false;
  }

  rendered(rendering: Rendering, parsed?: KubeObject): Buffer {
    if (this.corruption) throw this.corruption;
    if (rendering.id === 'json') return this.bytes;
    if (rendering.timeBucket) return rendering.render(this, parsed);
    const memory = this.home?.renderings;
    const known = this.renderings?.find((other) => other.id === rendering.id);
    if (memory) this.renderedAt = memory.now;
    if (known) return known.bytes;
    const bytes = rendering.render(this, parsed);
    const isPinned = rendering.isPinned === true;
    if (!isPinned && memory?.hasRoomFor(bytes.length) === false) return bytes;
    return this.keep({ id: rendering.id, bytes: unpooled(bytes, 2), isPinned });
  }

  dropRenderings(): number {
    const dropped = this.renderings?.filter(({ isPinned }) => !isPinned) ?? [];
    this.renderings = this.renderings?.filter(({ isPinned }) => isPinned);
    return dropped.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** The home of the bytes, or the one to which they return when they are read. */
  private get home(): Home | undefined {
    const { slab, own } = this;
    return slab ? slab.home : own instanceof DeferredBytes ? own.home : undefined;
  }

  private keep(kept: KeptRendering): Buffer {
    const isFirst = !this.renderings?.some(({ isPinned }) => !isPinned);
    this.renderings ??= [];
    let added = kept.isPinned ? 0 : kept.bytes.length;
    if (this.renderings.length >= renderingsMax) {
      const oldest = this.renderings.findIndex(({ isPinned }) => !isPinned);
      if (oldest >= 0) added -= this.renderings.splice(oldest, 1)[0]!.bytes.length;
    }
    this.renderings.push(kept);
    if (!kept.isPinned) this.home?.renderings.add(this, added, isFirst);
    return kept.bytes;
  }

  /** Returns the same state under another resourceVersion, as DELETED events show it. */
  at(revision: Revision): EncodedObject {
    if (this.corruption || revision === this.revision) return this;
    return new EncodedObject(this.key, revision, this.bytesAt(revision), this.attributes);
  }

  /** Replaces the resourceVersion in place; bytes that other servers have spelled differently are parsed. */
  private bytesAt(revision: Revision): Buffer {
    const { bytes } = this;
    const at = this.stampStart();
    if (at < 0) return spliceResourceVersion(bytes, revision);
    const stamp = Buffer.from(`"resourceVersion":"${revision}"`);
    return Buffer.concat([bytes.subarray(0, at), stamp, bytes.subarray(at + this.stamp.length)]);
  }

  private get stamp(): string {
    return `"resourceVersion":"${this.revision}"`;
  }

  /** The position of the resourceVersion, or -1 if the metadata does not begin with it. */
  private stampStart(): number {
    const { bytes, stamp } = this;
    const at = metadataStart(bytes);
    return at >= 0 && bytes.toString('latin1', at, at + stamp.length) === stamp ? at : -1;
  }

  /** The length of the resourceVersion with the comma that follows. */
  private stampLength(bytes: Buffer, at: number): number {
    const { length } = this.stamp;
    return bytes[at + length] === comma ? length + 1 : length;
  }
}

const comma = 0x2c;

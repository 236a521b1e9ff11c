import { decodeJson, decodeJsonInSteps } from '../codec/json.js';
import { metadataStart, spliceResourceVersion } from '../codec/stored-object.js';
import type { Status } from '../machinery/api-error.js';
import type { KubeObject, OwnerReference } from '../machinery/kube-object.js';
import type { Revision } from '../machinery/revision.js';
import type { Steps } from '../std/steps.js';
import { unpooled } from '../std/unpooled.js';
import type { KeyValue } from '../storage/kv-store.js';

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

// Few renderings are in use at a time (JSON, protobuf, metadata, Table). Clients cannot make an object keep more.
const renderingsMax = 4;
/** Larger objects are parsed in a step of their own, so that other requests run before they are encoded. */
const largeBytesMin = 64 * 1024;

/** One state of an object as bytes. Immutable except for the renderings it keeps. */
export class EncodedObject {
  /**
   * True if the stored bytes are of an older version or encoding: the next write updates them even without other
   * changes.
   */
  isOutdated = false;
  /** Fields of the stored value that this server does not know. A write of the object would drop them. */
  unknownFields: readonly string[] = nothing;
  /** The size of a value that cannot be decoded. */
  storedBytes = 0;
  private renderings: { readonly id: string; readonly bytes: Buffer; readonly isPinned: boolean }[] | undefined =
    undefined;

  constructor(
    readonly key: string,
    readonly revision: Revision,
    /** JSON with the resourceVersion. */
    readonly bytes: Buffer,
    readonly attributes: Attributes,
    /** The decoding error. Reads of the object fail with it, lists report it, and watches skip the object. */
    readonly corruption: Error | undefined = undefined,
  ) {}

  static corrupt(
    { key, modRevision, value }: Pick<KeyValue, 'key' | 'modRevision' | 'value'>,
    error: Error,
  ): EncodedObject {
    const end = key.lastIndexOf('/');
    const name = key.slice(end + 1);
    const namespace = key.slice(key.lastIndexOf('/', end - 1) + 1, end);
    const attributes = { namespace, name, labels: undefined, fields: {} };
    const corrupt = new EncodedObject(key, modRevision, noBytes, attributes, error);
    corrupt.storedBytes = value.length;
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
    return this.bytes.length >= largeBytesMin;
  }

  hasRendering({ id }: Rendering): boolean {
    return this.renderings?.some((other) => other.id === id) ?? false;
  }

  rendered(rendering: Rendering, parsed?: KubeObject): Buffer {
    if (this.corruption) throw this.corruption;
    if (rendering.id === 'json') return this.bytes;
    if (rendering.timeBucket) return rendering.render(this, parsed);
    const known = this.renderings?.find((other) => other.id === rendering.id);
    if (known) return known.bytes;
    const bytes = unpooled(rendering.render(this, parsed), 2);
    this.renderings ??= [];
    if (this.renderings.length >= renderingsMax) {
      const oldest = this.renderings.findIndex(({ isPinned }) => !isPinned);
      if (oldest >= 0) this.renderings.splice(oldest, 1);
    }
    this.renderings.push({ id: rendering.id, bytes, isPinned: rendering.isPinned === true });
    return bytes;
  }

  /** Returns the same state under another resourceVersion, as DELETED events show it. */
  at(revision: Revision): EncodedObject {
    if (this.corruption || revision === this.revision) return this;
    return new EncodedObject(this.key, revision, this.bytesAt(revision), this.attributes);
  }

  /** Replaces the resourceVersion in place; bytes that other servers have spelled differently are parsed. */
  private bytesAt(revision: Revision): Buffer {
    const text = `"resourceVersion":"${this.revision}"`;
    const at = metadataStart(this.bytes);
    if (at < 0 || this.bytes.toString('latin1', at, at + text.length) !== text) {
      return spliceResourceVersion(this.bytes, revision);
    }
    const stamp = Buffer.from(`"resourceVersion":"${revision}"`);
    return Buffer.concat([this.bytes.subarray(0, at), stamp, this.bytes.subarray(at + text.length)]);
  }
}

import { decodeJson, decodeJsonInSteps } from '../codec/json.js';
import { metadataStart, spliceResourceVersion } from '../codec/stored-object.js';
import type { Status } from '../machinery/api-error.js';
import type { KubeObject, OwnerReference } from '../machinery/kube-object.js';
import type { Revision } from '../machinery/revision.js';
import type { Steps } from '../std/steps.js';
import type { KeyValue } from '../storage/kv-store.js';

/** What selectors see of an object. */
export interface Attributes {
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** The fields of the kind that can be selected. */
  readonly fields: Readonly<Record<string, string>>;
  /** Absent for objects that depend on nothing, are held by nothing, and are not being deleted: most. */
  readonly lifetime?: Lifetime | undefined;
}

/** What decides when an object goes. */
export interface Lifetime {
  readonly owners: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  readonly isDeleting: boolean;
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** How an object becomes bytes for a client: media type × version × Object, Metadata or Table. */
export interface Rendering {
  /** Equal ids make equal bytes. `json` is the identity. */
  readonly id: string;
  /** Of bytes that tell how old things are: they are good for as long as this stays the same. */
  readonly moment?: () => number;
  /** `parsed` is the object, where somebody has parsed it before. */
  render(object: EncodedObject, parsed?: KubeObject): Buffer;
  frame(type: WatchEventType, body: Buffer): Buffer;
  /** The whole frame. */
  bookmark(revision: Revision, initialEventsEnd: boolean): Buffer;
  /** The whole frame. */
  error(status: Status): Buffer;
}

/** Makes what the cache holds from what the store holds: one parse, for the attributes alone. */
export type Decode = (item: KeyValue) => EncodedObject;

const nothing: readonly string[] = [];
const noBytes = Buffer.alloc(0);

// A handful of renderings are in use at a time (JSON, protobuf, metadata, Table); a client cannot make an object hoard more.
const renderingsMax = 4;
/** Parsing a larger one is a step of its own, so that other requests run before its other form is made. */
const largeBytesMin = 64 * 1024;

/** One state of an object, as bytes. It never changes; what it remembers are other forms of the same bytes. */
export class EncodedObject {
  /** What is stored is of an older form: the next write brings it up to date, even when it changes nothing else. */
  isOutdated = false;
  /** Fields of the stored value that this server does not know: a write of the object would lose them. */
  unknownFields: readonly string[] = nothing;
  /** The size of a value that cannot be read. */
  storedBytes = 0;
  private renderings: { readonly id: string; readonly bytes: Buffer }[] | undefined = undefined;

  constructor(
    readonly key: string,
    readonly revision: Revision,
    /** JSON, the resourceVersion included. */
    readonly bytes: Buffer,
    readonly attributes: Attributes,
    /** Why the stored value cannot be read. Reads of the object fail with it, lists name it, watches pass over it. */
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

  /** A fresh copy on every call: the caller may change it. */
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
    if (rendering.moment) return rendering.render(this, parsed);
    const known = this.renderings?.find((other) => other.id === rendering.id);
    if (known) return known.bytes;
    const bytes = unpooled(rendering.render(this, parsed));
    this.renderings ??= [];
    if (this.renderings.length === renderingsMax) this.renderings.shift();
    this.renderings.push({ id: rendering.id, bytes });
    return bytes;
  }

  /** The same state under another resourceVersion: what a DELETED event shows. */
  at(revision: Revision): EncodedObject {
    if (this.corruption || revision === this.revision) return this;
    return new EncodedObject(this.key, revision, this.bytesAt(revision), this.attributes);
  }

  /** Both versions stand in the same place; only bytes that others spelled are parsed for it. */
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

/** A small buffer is usually a piece of a pool that lives as long as any of its pieces: what is kept gets its own memory. */
function unpooled(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength <= bytes.length * 2) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

import type { JsonValue, KubeObject } from '../machinery/kube-object.js';
import type { Steps } from '../std/steps.js';

/** A decoded body, and the findings of strict validation. */
export interface Decoded {
  readonly value: JsonValue;
  /** `duplicate field "data.a"`, in the order of the document. Empty unless requested. */
  readonly duplicates: readonly string[];
}

export interface DecodeOptions {
  readonly findDuplicates?: boolean;
  /** Limit on the objects, lists and scalars in one body; unlimited if absent. */
  readonly valuesMax?: number;
}

/** Decodes bodies of one media type. */
export interface Decoder {
  /** Unique: answers are kept by it. */
  readonly name: string;
  /** The Content-Type of answers, and the name in Accept and Content-Type. */
  readonly mediaType: string;
  /** Throws DecodeError, and ApiError (413) for more values than `valuesMax`. */
  decode(bytes: Uint8Array, options?: DecodeOptions): Decoded;
  /** Like `decode`, in steps: a large body would hold the event loop. */
  decodeInSteps?(bytes: Uint8Array, options?: DecodeOptions): Steps<Decoded>;
}

/**
 * Encodes and decodes one media type. Values are JSON values, except that integers beyond 2^53 are bigint. encodings.ts
 * lists the built-in encodings.
 */
export interface Encoding extends Decoder {
  /** Content type of watches; undefined if the encoding cannot stream. Watches need `frame`. */
  readonly streamMediaType: string | undefined;
  /** False if only kinds with a generated schema can be encoded. */
  readonly takesAnyKind: boolean;
  /** False if Tables cannot be encoded. */
  readonly takesTables: boolean;
  /** Throws EncodeError if takesAnyKind is false and the kind of the value is unknown. */
  encode(value: unknown, options?: { readonly pretty?: boolean }): Buffer;
  /** Like `encode`, in steps: a large value would hold the event loop. */
  encodeInSteps?(value: unknown): Steps<Buffer>;
  /** Assembles a list from the bytes of its objects; without it a list is encoded as a whole. */
  readonly list?: ListEncoding;
  /** Returns the frame of a watch event. `object` are the bytes that `encode` returned. */
  readonly frame?: (type: string, object: Buffer) => Buffer;
}

/** Parts of an encoded list: the head, the items with separators between them, the tail. */
export interface ListEncoding {
  /** `itemsLength` is the length of all items with their separators. */
  head(list: ListHead, itemsLength: number, itemsCount: number): Buffer;
  readonly separator: Buffer;
  /** Encodes an item whose bytes are not a range of `encode(object)`. */
  encodeItem?(object: KubeObject, carriesType: boolean): Buffer;
  /** Start of the range of `encode(object)` that is the item… */
  itemStart(object: Buffer): number;
  /** … and its end. */
  itemEnd(object: Buffer): number;
  tail(list: ListHead): Buffer;
}

/** A list without its items. */
export interface ListHead {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
    readonly shardInfo?: { readonly selector: string };
  };
}

import type { JsonValue, KubeObject } from '../machinery/kube-object.js';
import { atOnce, type Steps } from '../std/steps.js';
import { DecodeError } from './decode-error.js';
import { decodeJsonInSteps, encodeJson, prettyJson } from './json.js';
import { findDuplicateFields } from './strict-json.js';
import { ValueBudget } from './value-budget.js';
import { decodeYaml, decodeYamlInSteps, encodeYaml, encodeYamlInSteps } from './yaml.js';

/** What a decoder read, and what it noticed on the way. */
export interface Decoded {
  readonly value: JsonValue;
  /** `duplicate field "data.a"`, in the order of the document. Empty unless they were asked for. */
  readonly duplicates: readonly string[];
}

export interface DecodeOptions {
  readonly findDuplicates?: boolean;
  /** Objects, lists and scalars that one body may hold; unbounded where nobody says. */
  readonly valuesMax?: number;
}

/** One way to read objects. */
export interface Decoder {
  readonly name: 'json' | 'yaml' | 'protobuf' | 'cbor';
  /** The content type of answers, and what Accept and Content-Type call it. */
  readonly mediaType: string;
  /** Throws DecodeError, and ApiError (413) for more values than `valuesMax`. */
  decode(bytes: Uint8Array, options?: DecodeOptions): Decoded;
  /** The same in steps, where a large body takes longer than other requests should wait. */
  decodeInSteps?(bytes: Uint8Array, options?: DecodeOptions): Steps<Decoded>;
}

/** One way to write objects too. Another way is one file beside this one and one line in the list below. */
export interface Encoding extends Decoder {
  /** The content type of watches; undefined when the encoding cannot stream. */
  readonly streamMediaType: string | undefined;
  /** False where only kinds with a generated schema can be written. */
  readonly takesAnyKind: boolean;
  /** False where tables cannot be written. */
  readonly takesTables: boolean;
  /** Throws EncodeError where takesAnyKind is false and the value, by its apiVersion and kind, cannot be written. */
  encode(value: unknown, options?: { readonly pretty?: boolean }): Buffer;
  /** The same in steps, where a large value takes longer than other requests should wait. */
  encodeInSteps?(value: unknown): Steps<Buffer>;
  /** How a list is put together from the bytes of its objects; without it a list is written at once. */
  readonly list?: ListForm;
  /** The whole frame of a watch event, around bytes that `encode` made of its object. */
  readonly frame?: (type: string, object: Buffer) => Buffer;
}

/** A list as bytes: the head, the items with separators between them, the tail. */
export interface ListForm {
  /** `itemsLength` is the sum of what is taken of the items, and of the separators. */
  head(list: ListHead, itemsLength: number, itemsCount: number): Buffer;
  readonly separator: Buffer;
  /** The bytes of an item, where they are not a piece of those that `encode` makes of its object. */
  encodeItem?(object: KubeObject, carriesType: boolean): Buffer;
  /** What is taken of an object's bytes goes from here… */
  itemStart(object: Buffer): number;
  /** … to here. */
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

const none: readonly string[] = [];

export const json: Encoding = {
  name: 'json',
  mediaType: 'application/json',
  streamMediaType: 'application/json',
  takesAnyKind: true,
  takesTables: true,
  encode: (value, options) => (options?.pretty ? prettyJson(value) : encodeJson(value)),
  decode: (bytes, options) => atOnce(jsonInSteps(bytes, options)),
  decodeInSteps: jsonInSteps,
};

function* jsonInSteps(bytes: Uint8Array, options: DecodeOptions | undefined): Steps<Decoded> {
  new ValueBudget(options?.valuesMax ?? Infinity).takeJson(bytes);
  yield;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  let value: JsonValue;
  try {
    value = yield* decodeJsonInSteps(text);
  } catch (error) {
    // The kind is looked for first, so that is where a syntax error shows.
    if (error instanceof DecodeError) {
      throw new DecodeError(`couldn't get version/kind; json parse error: ${error.message}`, { cause: error });
    }
    throw error;
  }
  if (!options?.findDuplicates) return { value, duplicates: none };
  yield;
  return { value, duplicates: findDuplicateFields(text) };
}

export const yaml: Encoding = {
  name: 'yaml',
  mediaType: 'application/yaml',
  streamMediaType: undefined,
  takesAnyKind: true,
  takesTables: true,
  encode: (value) => encodeYaml(value),
  encodeInSteps: encodeYamlInSteps,
  decode: (bytes, options) => decodeYaml(bytes, options),
  decodeInSteps: (bytes, options) => decodeYamlInSteps(bytes, options),
};

/** In the order in which they are offered; the first is the default. */
export const standardEncodings: readonly Encoding[] = [json, yaml];

import { parseApiVersion } from '../machinery/gvk.js';
import type { StructType, TypeSource } from '../machinery/type-model.js';
import { DecodeError } from '../std/decode-error.js';
import { decodeCbor } from './cbor-decoder.js';
import { encodeCborValue } from './cbor-encoder.js';
import { CborWriter, majorTypes } from './cbor-writer.js';
import type { Encoding, ListEncoding } from './encoding.js';

/** The self-described CBOR tag, which starts every object, also those inside watch events. */
const selfDescribed = Buffer.from([0xd9, 0xd9, 0xf7]);

/** CBOR. Kinds that `types` knows are encoded by their types, all others by their values. */
export function cborEncoding(types: () => TypeSource): Encoding {
  let known: TypeSource | undefined;
  return {
    name: 'cbor',
    mediaType: 'application/cbor',
    streamMediaType: 'application/cbor-seq',
    takesAnyKind: true,
    takesTables: false,
    encode: (value) => encodeObject(value, (known ??= types())),
    decode: (bytes, options) => {
      try {
        return { value: decodeCbor(bytes, options?.valuesMax), duplicates: [] };
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        // The kind is decoded first, so a syntax error is reported as its error.
        throw new DecodeError(`unable to determine group/version/kind: ${error.message}`, { cause: error });
      }
    },
    list: listEncoding(() => (known ??= types())),
    frame: watchFrame,
  };
}

// Shared: encoding is synchronous.
const writer = new CborWriter();

function encodeObject(value: unknown, types: TypeSource): Buffer {
  writer.clear();
  writer.raw(selfDescribed);
  encodeCborValue(writer, value, structOf(value, types));
  return writer.take();
}

function structOf(value: unknown, types: TypeSource): StructType | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { apiVersion, kind } = value as { apiVersion?: unknown; kind?: unknown };
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const groupVersion = parseApiVersion(apiVersion);
  return groupVersion && types.kind(groupVersion.group, groupVersion.version, kind);
}

/**
 * Assembles lists from encoded items. Keys are sorted by length: kind, items, metadata, apiVersion. An item's kind and
 * apiVersion are in the middle of its bytes, so items without them are encoded separately; items do not repeat the
 * self-described tag.
 */
function listEncoding(types: () => TypeSource): ListEncoding {
  return {
    head({ kind }, _itemsLength, itemsCount) {
      writer.clear();
      writer.raw(selfDescribed);
      writer.head(majorTypes.map, 4);
      writer.string('kind');
      writer.string(kind);
      writer.string('items');
      writer.head(majorTypes.array, itemsCount);
      return writer.take();
    },
    separator: Buffer.alloc(0),
    encodeItem(object, carriesType) {
      const { kind: _kind, apiVersion: _apiVersion, ...untyped } = object;
      writer.clear();
      encodeCborValue(writer, carriesType ? object : untyped, structOf(object, types()));
      return writer.take();
    },
    itemStart: () => 0,
    itemEnd: (bytes) => bytes.length,
    tail({ apiVersion, metadata }) {
      writer.clear();
      writer.string('metadata');
      encodeCborValue(writer, metadata, undefined);
      writer.string('apiVersion');
      writer.string(apiVersion);
      return writer.take();
    },
  };
}

/** A watch event as one item of a CBOR sequence. */
function watchFrame(type: string, object: Buffer): Buffer {
  writer.clear();
  writer.raw(selfDescribed);
  writer.head(majorTypes.map, 2);
  writer.string('type');
  writer.string(type);
  writer.string('object');
  writer.raw(object);
  return writer.take();
}

import { cborEncoding } from '../../src/codec/cbor.js';
import { json, yaml } from '../../src/codec/encodings.js';
import type { Encoding } from '../../src/codec/encoding.js';
import { protobufEncoding } from '../../src/codec/protobuf.js';
import { catalog } from './templates.js';

export type BodyEncoding = 'json' | 'yaml' | 'protobuf' | 'cbor';
interface Body {
  readonly mediaType: string;
  readonly bytes: Buffer;
}

const encoders: Readonly<Record<BodyEncoding, Encoding>> = {
  json,
  yaml,
  protobuf: protobufEncoding('application/vnd.kubernetes.protobuf', () => catalog),
  cbor: cborEncoding(() => catalog),
};

/** Encodes the object of a JSON text; undefined if the encoding cannot represent it, for example a wrong type. */
export function bodyAs(encoding: BodyEncoding, text: string): Body | undefined {
  const { mediaType, encode } = encoders[encoding];
  if (encoding === 'json') return { mediaType, bytes: Buffer.from(text) };
  try {
    return { mediaType, bytes: encode(JSON.parse(text)) };
  } catch {
    return undefined;
  }
}

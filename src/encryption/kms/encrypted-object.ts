import { readBytes, readNumber, readText, writeBytes, writeNumber } from '../../grpc/fields.js';
import { isDnsSubdomain } from '../../machinery/names.js';
import { DecodeError } from '../../std/decode-error.js';
import { ProtobufReader, wireTypes } from '../../std/protobuf-reader.js';
import { ProtobufWriter } from '../../std/protobuf-writer.js';
import { UntransformableError } from '../../storage/value-transforms.js';
import { readAnnotation, writeAnnotations, type EncryptedKey } from './kms-messages.js';

/*
 * The stored value behind the prefix of the provider, as kube-apiserver writes it:
 *
 *   EncryptedObject { 1 encryptedData: bytes, 2 keyID: string, 3 encryptedDEKSource: bytes,
 *                     4 annotations: map<string, bytes>, 5 encryptedDEKSourceType: enum }
 */

/** The plain text of encryptedDEKSource: the key of the data, or a seed from which the key is derived. */
export const sourceTypes = { key: 0, seed: 1 } as const;
const sourceTypeMax = 1;

const annotationsBytesMax = 32 * 1024;
const keyIdBytesMax = 1024;
const encryptedKeyBytesMax = 1024;

export interface EncryptedObject extends EncryptedKey {
  readonly data: Buffer;
  readonly sourceType: number;
}

/** Returns the fields behind the data, which are the same for all values of one seed. */
export function encodeTail({ ciphertext, keyId, annotations }: EncryptedKey, sourceType: number): Buffer {
  const writer = new ProtobufWriter(1024);
  writeNumber(writer, 5, sourceType);
  writeAnnotations(writer, 4, annotations);
  writeBytes(writer, 3, ciphertext);
  writeBytes(writer, 2, Buffer.from(keyId));
  return writer.take();
}

/** Returns the tag and the length that precede the data. */
export function encodeDataHead(length: number): Buffer {
  const writer = new ProtobufWriter(16);
  writer.varint(length);
  writer.tag(1, wireTypes.bytes);
  return writer.take();
}

/** Throws UntransformableError. */
export function decodeEncryptedObject(bytes: Buffer): EncryptedObject {
  const object = parsed(bytes);
  const flaw =
    object.data.length === 0
      ? 'encrypted data is empty'
      : object.sourceType > sourceTypeMax
        ? `unknown encryptedDEKSourceType: ${object.sourceType}`
        : encryptedKeyFlaw(object);
  if (flaw !== undefined) throw new UntransformableError(flaw);
  return object;
}

function parsed(bytes: Buffer): EncryptedObject {
  const reader = new ProtobufReader(bytes, undefined);
  let data: Buffer = Buffer.alloc(0);
  let ciphertext: Buffer = Buffer.alloc(0);
  let keyId = '';
  let sourceType = 0;
  const annotations = new Map<string, Buffer>();
  try {
    while (reader.next()) {
      if (reader.field === 1) data = readBytes(reader);
      else if (reader.field === 2) keyId = readText(reader);
      else if (reader.field === 3) ciphertext = readBytes(reader);
      else if (reader.field === 4) readAnnotation(reader, annotations);
      else if (reader.field === 5) sourceType = readNumber(reader);
      else reader.skip();
    }
  } catch (error) {
    if (error instanceof DecodeError) throw new UntransformableError(error.message);
    throw error;
  }
  return { data, ciphertext, keyId, annotations, sourceType };
}

/** Returns why kube-apiserver would not use what a plug-in has encrypted. */
export function encryptedKeyFlaw({ ciphertext, keyId, annotations }: EncryptedKey): string | undefined {
  if (ciphertext.length === 0) return 'failed to validate encrypted DEK source: encrypted DEK source is empty';
  if (ciphertext.length > encryptedKeyBytesMax) {
    const size = `encrypted DEK source is ${ciphertext.length} bytes`;
    return `failed to validate encrypted DEK source: ${size}, which exceeds the max size of ${encryptedKeyBytesMax}`;
  }
  const flaw = keyIdFlaw(keyId);
  if (flaw) return `failed to validate key id: ${flaw.message}`;
  let total = 0;
  for (const [name, value] of annotations) {
    if (!isFullyQualified(name)) {
      return 'failed to validate annotations: a name is not a domain name with at least two segments separated by dots';
    }
    total += name.length + value.length;
  }
  if (total <= annotationsBytesMax) return undefined;
  const size = `total size of annotations is ${total}`;
  return `failed to validate annotations: ${size}, which exceeds the max size of ${annotationsBytesMax}`;
}

/** `code` is the label of metrics. */
export function keyIdFlaw(
  keyId: string,
): { readonly code: 'empty' | 'too_long'; readonly message: string } | undefined {
  const bytes = Buffer.byteLength(keyId);
  if (bytes === 0) return { code: 'empty', message: 'keyID is empty' };
  if (bytes <= keyIdBytesMax) return undefined;
  return { code: 'too_long', message: `keyID is ${bytes} bytes, which exceeds the max size of ${keyIdBytesMax}` };
}

function isFullyQualified(name: string): boolean {
  const domain = name.endsWith('.') ? name.slice(0, -1) : name;
  return isDnsSubdomain(domain) && domain.includes('.') && domain.split('.').every((label) => label.length <= 63);
}

/** Returns equal texts for equal encrypted keys. */
export function cacheKeyOf({ ciphertext, keyId, annotations }: EncryptedKey, sourceType: number): string {
  let key = `${sourceType} ${ciphertext.length} ${ciphertext.toString('latin1')}${keyId.length} ${keyId}`;
  if (annotations.size === 0) return key;
  for (const [name, value] of [...annotations].sort(([a], [b]) => (a < b ? -1 : 1))) {
    key += `${name.length} ${name}${value.length} ${value.toString('latin1')}`;
  }
  return key;
}

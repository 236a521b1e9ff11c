import {
  decoder,
  endMessage,
  framed,
  readBytes,
  readNested,
  readText,
  writeBytes,
  writerFor,
} from '../../grpc/fields.js';
import type { ProtobufReader } from '../../std/protobuf-reader.js';
import type { ProtobufWriter } from '../../std/protobuf-writer.js';

/*
 * Methods and messages of the gRPC service v2.KeyManagementService, by field number:
 *
 *   Status   {}                                     returns { 1 version, 2 healthz, 3 key_id: strings }
 *   Encrypt  { 1 plaintext: bytes, 2 uid: string }  returns { 1 ciphertext: bytes, 2 key_id: string, 3 annotations }
 *   Decrypt  { 1 ciphertext: bytes, 2 uid, 3 key_id: strings, 4 annotations }  returns { 1 plaintext: bytes }
 *
 * annotations: map<string, bytes>
 */

export type KmsMethod = 'Status' | 'Encrypt' | 'Decrypt';
export const pathOf = (method: KmsMethod): string => `/v2.KeyManagementService/${method}`;

/** Data of the plug-in that it needs again for decryption. */
type Annotations = ReadonlyMap<string, Buffer>;

export interface KmsStatus {
  readonly version: string;
  readonly healthz: string;
  readonly keyId: string;
}

/** An encrypted data encryption key, or seed of such keys. */
export interface EncryptedKey {
  readonly ciphertext: Buffer;
  readonly keyId: string;
  readonly annotations: Annotations;
}

export function encodeStatus(): Buffer {
  return framed(writerFor(0));
}

export function encodeEncrypt(plaintext: Buffer, uid: string): Buffer {
  const writer = writerFor(plaintext.length + 64);
  writeBytes(writer, 2, Buffer.from(uid));
  writeBytes(writer, 1, plaintext);
  return framed(writer);
}

export function encodeDecrypt({ ciphertext, keyId, annotations }: EncryptedKey, uid: string): Buffer {
  const writer = writerFor(ciphertext.length + keyId.length + 64);
  writeAnnotations(writer, 4, annotations);
  writeBytes(writer, 3, Buffer.from(keyId));
  writeBytes(writer, 2, Buffer.from(uid));
  writeBytes(writer, 1, ciphertext);
  return framed(writer);
}

export function writeAnnotations(writer: ProtobufWriter, field: number, annotations: Annotations): void {
  for (const [name, value] of annotations) {
    const end = writer.length;
    writeBytes(writer, 2, value);
    writeBytes(writer, 1, Buffer.from(name));
    endMessage(writer, field, end);
  }
}

export const decodeStatus = decoder((reader): KmsStatus => {
  let [version, healthz, keyId] = ['', '', ''];
  while (reader.next()) {
    if (reader.field === 1) version = readText(reader);
    else if (reader.field === 2) healthz = readText(reader);
    else if (reader.field === 3) keyId = readText(reader);
    else reader.skip();
  }
  return { version, healthz, keyId };
});

export const decodeEncrypted = decoder((reader): EncryptedKey => {
  let ciphertext: Buffer = Buffer.alloc(0);
  let keyId = '';
  const annotations = new Map<string, Buffer>();
  while (reader.next()) {
    if (reader.field === 1) ciphertext = readBytes(reader);
    else if (reader.field === 2) keyId = readText(reader);
    else if (reader.field === 3) readAnnotation(reader, annotations);
    else reader.skip();
  }
  return { ciphertext, keyId, annotations };
});

export const decodeDecrypted = decoder((reader): Buffer => {
  let plaintext: Buffer = Buffer.alloc(0);
  while (reader.next()) {
    if (reader.field === 1) plaintext = readBytes(reader);
    else reader.skip();
  }
  return plaintext;
});

export function readAnnotation(reader: ProtobufReader, annotations: Map<string, Buffer>): void {
  readNested(reader, (entry) => {
    let name = '';
    let value: Buffer = Buffer.alloc(0);
    while (entry.next()) {
      if (entry.field === 1) name = readText(entry);
      else if (entry.field === 2) value = readBytes(entry);
      else entry.skip();
    }
    annotations.set(name, value);
  });
}

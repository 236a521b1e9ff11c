import {
  decoder,
  framed,
  readBytes,
  readFlag,
  readNested,
  readNumber,
  readText,
  writeBytes,
  writerFor,
} from '../../grpc/fields.js';
import type { ProtobufReader } from '../../std/protobuf-reader.js';

/*
 * Methods and messages of the gRPC service v1.ExternalJWTSigner, by field number:
 *
 *   Sign       { 1 claims: string }  returns { 1 header: string, 2 signature: string }
 *   FetchKeys  {}                    returns { 1 keys: Key[], 2 data_timestamp: Timestamp, 3 refresh_hint_seconds: int64 }
 *   Metadata   {}                    returns { 1 max_token_expiration_seconds: int64 }
 *   Key        { 1 key_id: string, 2 key: bytes, 3 exclude_from_oidc_discovery: bool }
 *   Timestamp  { 1 seconds: int64, 2 nanos: int32 }
 */

export const signerPaths = {
  Sign: '/v1.ExternalJWTSigner/Sign',
  FetchKeys: '/v1.ExternalJWTSigner/FetchKeys',
  Metadata: '/v1.ExternalJWTSigner/Metadata',
} as const;

/** Keys that a response may have, as the key sets of OpenID issuers. */
export const fetchedKeysMax = 256;

export type SignerMethod = keyof typeof signerPaths;

export interface FetchedKey {
  readonly id: string;
  /** SubjectPublicKeyInfo in DER: a view of the response. */
  readonly der: Buffer;
  readonly isExcluded: boolean;
}

export interface FetchKeysResponse {
  /** At most one more than fetchedKeysMax: a message of 4 MiB could have two million. */
  readonly keys: readonly FetchedKey[];
  /** Time at which the signer read the keys; undefined if it is not given. */
  readonly dataSeconds: number | undefined;
  readonly refreshSeconds: number;
}

/** Encodes the claims of a token, in base64url. */
export function encodeSign(claims: string): Buffer {
  const writer = writerFor(claims.length);
  writeBytes(writer, 1, Buffer.from(claims));
  return framed(writer);
}

/** Encodes the empty request of the other methods. */
export function encodeNothing(): Buffer {
  return framed(writerFor(0));
}

export const decodeSign = decoder((reader) => {
  let header = '';
  let signature = '';
  while (reader.next()) {
    if (reader.field === 1) header = readText(reader);
    else if (reader.field === 2) signature = readText(reader);
    else reader.skip();
  }
  return { header, signature };
});

export const decodeFetchKeys = decoder((reader): FetchKeysResponse => {
  const keys: FetchedKey[] = [];
  let dataSeconds: number | undefined;
  let refreshSeconds = 0;
  while (reader.next()) {
    if (reader.field === 1 && keys.length <= fetchedKeysMax) keys.push(readNested(reader, readKey));
    else if (reader.field === 2) dataSeconds = readNested(reader, readTimestamp);
    else if (reader.field === 3) refreshSeconds = readNumber(reader);
    else reader.skip();
  }
  return { keys, dataSeconds, refreshSeconds };
});

/** Returns the maximum validity of a token in seconds. */
export const decodeMetadata = decoder((reader) => {
  let lifeSecondsMax = 0;
  while (reader.next()) {
    if (reader.field === 1) lifeSecondsMax = readNumber(reader);
    else reader.skip();
  }
  return lifeSecondsMax;
});

function readKey(reader: ProtobufReader): FetchedKey {
  let id = '';
  let der: Buffer = Buffer.alloc(0);
  let isExcluded = false;
  while (reader.next()) {
    if (reader.field === 1) id = readText(reader);
    else if (reader.field === 2) der = readBytes(reader);
    else if (reader.field === 3) isExcluded = readFlag(reader);
    else reader.skip();
  }
  return { id, der, isExcluded };
}

function readTimestamp(reader: ProtobufReader): number {
  let seconds = 0;
  let nanos = 0;
  while (reader.next()) {
    if (reader.field === 1) seconds = readNumber(reader);
    else if (reader.field === 2) nanos = readNumber(reader);
    else reader.skip();
  }
  return seconds + nanos / 1e9;
}

import type { KubeObject } from '../machinery/kube-object.js';
import type { Revision } from '../machinery/revision.js';
import { copyBytes } from '../std/copy-bytes.js';
import { decodeJson, encodeJson } from './json.js';

/**
 * JSON of objects in the store: begins with kind, apiVersion and metadata, without resourceVersion, which is known only
 * after the write. Readers insert it without parsing:
 *
 *   {"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"…
 *   {"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"p"…
 *                                               ^ inserted
 */
export function encodeStored(object: KubeObject): Buffer {
  return encodeJson(withoutRevision(object));
}

/** The object without resourceVersion, in the field order of stored JSON. */
export function withoutRevision(object: KubeObject): KubeObject {
  const { kind, apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _resourceVersion, selfLink: _selfLink, ...kept } = metadata;
  return { kind, apiVersion, metadata: kept, ...rest };
}

/** JSON of an object that was read from the store at `revision`, as the cache keeps it. */
export function encodeRead({ kind, apiVersion, metadata, ...rest }: KubeObject, revision: Revision): Buffer {
  const { resourceVersion: _resourceVersion, ...kept } = metadata;
  return encodeJson({ kind, apiVersion, metadata: { resourceVersion: String(revision), ...kept }, ...rest });
}

/** A stored value and the resourceVersion that belongs into it: both are copied to where they are kept at once. */
export class SplicedValue {
  readonly length: number;

  constructor(
    private readonly value: Buffer,
    private readonly at: number,
    private readonly inserted: string,
  ) {
    this.length = value.length + inserted.length;
  }

  copy(target: Buffer, start: number): void {
    const { value, at, inserted } = this;
    copyBytes(value, target, start, 0, at);
    target.write(inserted, start + at, 'latin1');
    copyBytes(value, target, start + at + inserted.length, at);
  }

  toBuffer(): Buffer {
    const spliced = Buffer.allocUnsafe(this.length);
    this.copy(spliced, 0);
    return spliced;
  }
}

/** Inserts the resourceVersion. Bytes in another field order are parsed and encoded again. */
export function spliceResourceVersion(bytes: Buffer, revision: Revision): Buffer {
  const spliced = spliceWhenCopied(bytes, revision);
  return spliced instanceof SplicedValue ? spliced.toBuffer() : spliced;
}

/** spliceResourceVersion() that copies nothing yet, if it can. */
export function spliceWhenCopied(bytes: Buffer, revision: Revision): Buffer | SplicedValue {
  const at = metadataStart(bytes);
  if (at < 0 || holdsResourceVersion(bytes, at)) return respell(bytes, revision);
  const isEmpty = bytes[at] === closeBrace;
  return new SplicedValue(bytes, at, isEmpty ? `"resourceVersion":"${revision}"` : `"resourceVersion":"${revision}",`);
}

/**
 * The length that spliceResourceVersion() gives to a value of that length that this program has written, whose metadata has
 * a name.
 */
export const splicedLength = (length: number, revision: Revision): number =>
  length + `"resourceVersion":"${revision}",`.length;

function respell(bytes: Buffer, revision: Revision): Buffer {
  const object = decodeJson(bytes) as unknown as KubeObject;
  const { kind, apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _resourceVersion, selfLink: _selfLink, ...kept } = metadata ?? {};
  return encodeJson({ kind, apiVersion, metadata: { resourceVersion: String(revision), ...kept }, ...rest });
}

const quote = 0x22;
const backslash = 0x5c;
const closeBrace = 0x7d;
const beforeKind = Buffer.from('{"kind":"');
const beforeApiVersion = Buffer.from(',"apiVersion":"');
const beforeMetadata = Buffer.from(',"metadata":{');

/** Returns the position after `"metadata":{`, or -1 if the bytes begin otherwise. */
export function metadataStart(bytes: Buffer): number {
  let at = skip(bytes, 0, beforeKind);
  at = skip(bytes, endOfString(bytes, at), beforeApiVersion);
  return skip(bytes, endOfString(bytes, at), beforeMetadata);
}

function skip(bytes: Buffer, at: number, expected: Buffer): number {
  if (at < 0) return -1;
  for (let index = 0; index < expected.length; index++) if (bytes[at + index] !== expected[index]) return -1;
  return at + expected.length;
}

function endOfString(bytes: Buffer, from: number): number {
  if (from < 0) return -1;
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === quote) return at + 1;
    if (bytes[at] === backslash) return -1;
  }
  return -1;
}

const ownVersion = Buffer.from('"resourceVersion":');
/** True if the metadata begins with resourceVersion; only bytes that kube-apiserver wrote do. */
function holdsResourceVersion(bytes: Buffer, at: number): boolean {
  return skip(bytes, at, ownVersion) >= 0;
}

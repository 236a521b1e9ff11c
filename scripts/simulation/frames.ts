import type { Encoding } from '../../src/codec/encoding.js';
import { decodeJson } from '../../src/codec/json.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { ProtobufReader } from '../../src/std/protobuf-reader.js';

interface Framed {
  readonly type: string;
  readonly object: KubeObject;
}

/** Decodes one frame of a watch. */
export function readFrame(frame: Buffer, encoding: Encoding): Framed {
  return encoding.name === 'protobuf' ? readProtobuf(frame, encoding) : (decodeJson(frame) as unknown as Framed);
}

/**
 * Decodes a protobuf frame: its length in four bytes, then WatchEvent { 1: type, 2: RawExtension { 1: the object in its
 * envelope } }.
 */
function readProtobuf(frame: Buffer, encoding: Encoding): Framed {
  if (frame.readUInt32BE(0) !== frame.length - 4) throw new Error('the length of a frame is wrong');
  const reader = new ProtobufReader(frame, undefined, 4);
  let type = '';
  let object: Buffer | undefined;
  while (reader.next()) {
    if (reader.field === 1) type = reader.text();
    else if (reader.field === 2) {
      const outer = reader.enter();
      while (reader.next()) object = reader.buffer();
      reader.leave(outer);
    }
  }
  if (!object) throw new Error('a frame without an object');
  return { type, object: encoding.decode(object).value as unknown as KubeObject };
}

import type { Encoding } from './encodings.js';

/**
 * One line of a JSON watch, built around the bytes of an object that exist already:
 * `{"type":"ADDED","object":` … `}` and a line's end.
 */
export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

const heads = Object.fromEntries(
  (['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] as const).map((type) => [
    type,
    Buffer.from(`{"type":"${type}","object":`),
  ]),
) as Record<WatchEventType, Buffer>;
const tail = Buffer.from('}\n');

export function frameJson(type: WatchEventType, object: Buffer): Buffer {
  const head = heads[type];
  const frame = Buffer.allocUnsafe(head.length + object.length + tail.length);
  head.copy(frame, 0);
  object.copy(frame, head.length);
  tail.copy(frame, head.length + object.length);
  return frame;
}

/** The content type of a watch in this encoding. */
export function streamContentType(encoding: Encoding): string {
  return encoding.streamMediaType ?? encoding.mediaType;
}

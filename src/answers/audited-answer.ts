import type { JsonPieces } from '../audit/audit-event.js';
import type { RequestAudit } from '../audit/request-audit.js';
import type { EncodedObject } from '../cache/encoded-object.js';
import { json } from '../codec/encodings.js';
import { encodeJson } from '../codec/json.js';
import { withoutManagedFields } from '../codec/without-managed-fields.js';
import type { Status } from '../machinery/api-error.js';
import type { Clock } from '../std/clock.js';
import { LoopYieldTimer } from '../std/loop-yield-timer.js';
import { encodedItem } from './encoded-item.js';
import { workSliceMs } from './list-stream.js';
import type { ListMeta } from './common-shapes.js';
import type { Renderings, Representation } from './rendering.js';

const lineFeed = 0x0a;

/** Returns the same representation as compact JSON, in which the audit log has all objects. */
const inJson = (representation: Representation): Representation => ({
  ...representation,
  encoding: json,
  pretty: false,
});

/** Returns the JSON of a stored object: the bytes of the cache or of the response, if they are JSON. */
export function auditedObject(
  renderings: Renderings,
  encoded: EncodedObject,
  representation: Representation,
): JsonPieces {
  const wanted = inJson(representation);
  const bytes = renderings.isIdentity(wanted) ? encoded.bytes : renderings.objectBytes(encoded, wanted);
  return [withoutLineEnd(bytes)];
}

/** Notes a list, joined from the bytes of its items. managedFields are removed item by item, since lists can be long. */
export async function noteList(
  audit: RequestAudit,
  renderings: Renderings,
  representation: Representation,
  meta: ListMeta,
  objects: readonly EncodedObject[],
  clock: Clock,
): Promise<void> {
  const rendering = renderings.joinedList(inJson(representation), objects.length)!;
  const { separator, firstSkip } = rendering;
  const yieldTimer = new LoopYieldTimer(clock, workSliceMs);
  const pieces: Buffer[] = [rendering.head(meta, 0)];
  for (const [index, object] of objects.entries()) {
    const encoded = encodedItem(rendering, object, clock);
    const bytes = encoded instanceof Promise ? await encoded : encoded;
    const item = bytes.subarray(rendering.itemStart(bytes), rendering.itemEnd(bytes));
    pieces.push(index === 0 ? separator.subarray(firstSkip) : separator);
    pieces.push(audit.omitsManagedFields ? withoutManagedFields(item) : item);
    if (yieldTimer.isDue()) await yieldTimer.yield();
  }
  pieces.push(withoutLineEnd(rendering.tail(meta)));
  audit.noteAnswer({ object: pieces, hasManagedFieldsRemoved: true });
}

/** Notes a value that is the response. `body` is its encoding. */
export function noteValue(
  audit: RequestAudit,
  value: unknown,
  body: Buffer,
  { encoding, pretty }: Representation,
): void {
  const status = isStatus(value) ? value : undefined;
  if (!audit.takesAnswers) return audit.noteAnswer({ status });
  const isJson = encoding.name === 'json' && !pretty;
  audit.noteAnswer({ status, object: [isJson ? withoutLineEnd(body) : encodeJson(value)] });
}

const withoutLineEnd = (bytes: Buffer): Buffer => (bytes.at(-1) === lineFeed ? bytes.subarray(0, -1) : bytes);

function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
}

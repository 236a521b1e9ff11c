import type { EncodedObject, Rendering } from '../cache/encoded-object.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { Hub } from '../registry/definition/resource-definition.js';
import type { CallTrace } from '../std/call-trace.js';
import type { Clock } from '../std/clock.js';
import { untilReady } from '../std/not-ready.js';
import { YieldTimer } from '../std/yield-timer.js';

/** Converts objects by another server, in requests of several objects; the objects keep the bytes of the rendering. */
export async function convertAhead(
  objects: readonly EncodedObject[],
  rendering: Rendering,
  fromHubAhead: NonNullable<Hub['fromHubAhead']>,
  clock: Clock,
  trace: CallTrace | undefined,
): Promise<void> {
  const timer = new YieldTimer(clock);
  for (const part of partsOf(objects)) {
    const parsed: KubeObject[] = [];
    for (const object of part) {
      parsed.push(object.parse());
      if (timer.isDue()) await timer.yield();
    }
    await fromHubAhead(parsed, trace);
    for (const [index, object] of part.entries()) {
      // Other requests may have displaced the result meanwhile.
      await untilReady(() => object.rendered(rendering, parsed[index]), trace);
      if (timer.isDue()) await timer.yield();
    }
  }
}

const partBytesMax = 1024 * 1024;
const partObjectsMax = 500;

/** Divides objects into parts of about a MiB, so that the conversion of a part fits into one message. */
function* partsOf(objects: readonly EncodedObject[]): Generator<EncodedObject[]> {
  let part: EncodedObject[] = [];
  let bytes = 0;
  for (const object of objects) {
    if (part.length > 0 && (bytes + object.byteLength > partBytesMax || part.length >= partObjectsMax)) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(object);
    bytes += object.byteLength;
  }
  if (part.length > 0) yield part;
}

import type { EncodedObject } from '../cache/encoded-object.js';
import type { Clock } from '../std/clock.js';
import { YieldTimer } from '../std/yield-timer.js';
import type { ListRendering } from './rendering.js';

/** The bytes of an object of a list. A promise if encoding it may take the time of a turn of the event loop. */
export function encodedItem(rendering: ListRendering, object: EncodedObject, clock: Clock): Buffer | Promise<Buffer> {
  return object.isLarge && rendering.parses(object)
    ? bytesInSteps(rendering, object, clock)
    : rendering.bytesOf(object);
}

async function bytesInSteps(rendering: ListRendering, object: EncodedObject, clock: Clock): Promise<Buffer> {
  const timer = new YieldTimer(clock);
  const parsed = await timer.run(object.parseInSteps());
  if (timer.isDue()) await timer.yield();
  const bytes = rendering.bytesInSteps
    ? await timer.run(rendering.bytesInSteps(object, parsed))
    : rendering.bytesOf(object, parsed);
  if (timer.isDue()) await timer.yield();
  return bytes;
}

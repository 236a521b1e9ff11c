import type { EncodedObject } from '../cache/encoded-object.js';
import { deflatedPart, gzipHead, GzipSum, storedPart, type GzipPart } from '../codec/gzip-parts.js';
import type { Clock } from '../std/clock.js';
import { copyBytes } from '../std/copy-bytes.js';
import { CompressedRuns, type ItemRange } from './compressed-runs.js';
import { encodedItem } from './encoded-item.js';
import type { ListRendering } from './rendering.js';
import type { LoopYieldTimer } from '../std/loop-yield-timer.js';
import { unpooled } from '../std/unpooled.js';

/** Consecutive items of a list that are compressed together. */
interface Run extends ItemRange {
  readonly bytes: number;
}

const runBytesMin = 16 * 1024;
const runBytesMax = 256 * 1024;
/**
 * One in this many objects begins a run, chosen by its revision and not by its position: a changed object changes only
 * its own run.
 */
const runItemsMean = 32;
/** Number of runs that are compressed ahead of the one being written. Node's thread pool has four threads. */
const runsAhead = 4;
// Shared by all resources, as its memory is.
const cache = new CompressedRuns();

interface WholeList {
  readonly rendering: ListRendering;
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly objects: readonly EncodedObject[];
  /** The lengths of the items without separators. */
  readonly itemLengths: Float64Array;
}

interface Pace {
  readonly sliceBytes: number;
  readonly yieldTimer: LoopYieldTimer;
  readonly clock: Clock;
}

/**
 * Yields a list as gzip. Runs of items without a change are taken from the cache of compressed runs, so that the cost
 * grows with the number of changes and not with the length of the list.
 */
export async function* compressedList(list: WholeList, pace: Pace): AsyncGenerator<Buffer, undefined> {
  const { rendering, head, tail, objects } = list;
  const { sliceBytes, yieldTimer } = pace;
  const { separator, firstSkip } = rendering;
  const sum = new GzipSum();
  const pending: Buffer[] = [gzipHead];
  let pendingBytes = gzipHead.length;
  const put = (part: GzipPart) => {
    sum.add(part);
    pending.push(part.bytes);
    pendingBytes += part.bytes.length;
  };
  const between = storedPart(separator);
  put(storedPart(Buffer.concat([head, objects.length > 0 ? separator.subarray(firstSkip) : nothing])));

  const runs = await runsOf(list, yieldTimer);
  const started: (GzipPart | { readonly begun: Promise<GzipPart> })[] = [];
  for (let i = 0; i < runs.length; i++) {
    while (started.length < runs.length && started.length <= i + runsAhead) {
      const run = runs[started.length]!;
      const known = cache.find(rendering.id, objects, run);
      started.push(known ?? { begun: compressedRun(list, run, await contentOf(list, run, pace)) });
      if (yieldTimer.isDue()) await yieldTimer.yield();
    }
    const part = started[i]!;
    if (i > 0) put(between);
    put('begun' in part ? await part.begun : part);
    if (pendingBytes >= sliceBytes) {
      yield Buffer.concat(pending, pendingBytes);
      pending.length = 0;
      pendingBytes = 0;
    }
  }
  put(storedPart(tail));
  yield Buffer.concat([...pending, sum.tail()]);
  return undefined;
}

const nothing = Buffer.alloc(0);

async function runsOf({ rendering, objects, itemLengths }: WholeList, yieldTimer: LoopYieldTimer): Promise<Run[]> {
  const runs: Run[] = [];
  let first = 0;
  let bytes = 0;
  for (let i = 0; i < objects.length; i++) {
    const object = objects[i]!;
    const mayEnd = bytes >= runBytesMin && beginsRun(object);
    if (mayEnd || bytes >= runBytesMax) {
      runs.push({ first, end: i, bytes });
      first = i;
      bytes = 0;
    }
    bytes += itemLengths[i]! + rendering.separator.length;
    if (yieldTimer.isDue()) await yieldTimer.yield();
  }
  if (first < objects.length) runs.push({ first, end: objects.length, bytes });
  return runs;
}

/** True for one in runItemsMean revisions (a hash, so that the same revision always gives the same result). */
function beginsRun({ revision }: EncodedObject): boolean {
  return Math.imul(revision, 0x9e3779b1) >>> 0 < 2 ** 32 / runItemsMean;
}

function compressedRun({ rendering, objects }: WholeList, run: Run, content: Buffer): Promise<GzipPart> {
  const compressed = deflatedPart(content).then((part) => {
    const kept = { ...part, bytes: unpooled(part.bytes, 1.25) };
    cache.add(rendering.id, objects.slice(run.first, run.end), kept);
    return part;
  });
  // Handles the rejection of later runs if an earlier one fails first.
  compressed.catch(() => undefined);
  return compressed;
}

async function contentOf(
  { rendering, objects }: WholeList,
  { first, end, bytes }: Run,
  { yieldTimer, clock }: Pace,
): Promise<Buffer> {
  const { separator } = rendering;
  const content = Buffer.allocUnsafeSlow(bytes - separator.length);
  let at = 0;
  for (let i = first; i < end; i++) {
    if (i > first) at += separator.copy(content, at);
    const encoded = encodedItem(rendering, objects[i]!, clock);
    const item = encoded instanceof Promise ? await encoded : encoded;
    at += copyBytes(item, content, at, rendering.itemStart(item), rendering.itemEnd(item));
    if (yieldTimer.isDue()) await yieldTimer.yield();
  }
  return content;
}

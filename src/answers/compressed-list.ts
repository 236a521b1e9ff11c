import type { EncodedObject } from '../cache/encoded-object.js';
import { deflatedPart, gzipHead, GzipSum, storedPart, type GzipPart } from '../codec/gzip-parts.js';
import type { ListRendering } from './rendering.js';
import type { LoopYieldTimer } from '../std/loop-yield-timer.js';
import { unpooled } from '../std/unpooled.js';

/** Consecutive items of a list that are compressed together. */
interface Run {
  readonly first: number;
  readonly end: number;
  readonly bytes: number;
}

/** A run compressed earlier. Valid for a run of objects with the same revisions. */
interface CachedRun {
  readonly revisions: Float64Array;
  readonly part: GzipPart;
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
/** Maximum number of cached runs with the same first object: of the whole list, and of a selection. */
const cachedRunsMax = 2;

/**
 * Keyed by the bytes of the first item, so that a run is garbage-collected with them. Each rendering
 * of an object has bytes of its own.
 */
const cachedRuns = new WeakMap<Buffer, CachedRun[]>();

/**
 * Yields a list as gzip. Runs of items without a change are taken from the cache of compressed runs, so that the cost
 * grows with the number of changes and not with the length of the list.
 */
export async function* compressedList(
  rendering: ListRendering,
  { head, tail }: { readonly head: Buffer; readonly tail: Buffer },
  objects: readonly EncodedObject[],
  { sliceBytes, yieldTimer }: { readonly sliceBytes: number; readonly yieldTimer: LoopYieldTimer },
): AsyncGenerator<Buffer, undefined> {
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

  const runs = await runsOf(rendering, objects, yieldTimer);
  const started: (GzipPart | Promise<GzipPart>)[] = [];
  for (let i = 0; i < runs.length; i++) {
    while (started.length < runs.length && started.length <= i + runsAhead) {
      const run = compressedRun(rendering, objects, runs[started.length]!);
      // Handles the rejection of later runs if an earlier one fails first.
      if (run instanceof Promise) run.catch(() => undefined);
      started.push(run);
      if (yieldTimer.isDue()) await yieldTimer.yield();
    }
    const part = started[i]!;
    if (i > 0) put(between);
    put(part instanceof Promise ? await part : part);
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

async function runsOf(
  rendering: ListRendering,
  objects: readonly EncodedObject[],
  yieldTimer: LoopYieldTimer,
): Promise<Run[]> {
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
    const item = rendering.bytesOf(object);
    bytes += rendering.itemEnd(item) - rendering.itemStart(item) + rendering.separator.length;
    if (yieldTimer.isDue()) await yieldTimer.yield();
  }
  if (first < objects.length) runs.push({ first, end: objects.length, bytes });
  return runs;
}

/** True for one in runItemsMean revisions (a hash, so that the same revision always gives the same result). */
function beginsRun({ revision }: EncodedObject): boolean {
  return Math.imul(revision, 0x9e3779b1) >>> 0 < 2 ** 32 / runItemsMean;
}

function compressedRun(
  rendering: ListRendering,
  objects: readonly EncodedObject[],
  run: Run,
): GzipPart | Promise<GzipPart> {
  const key = rendering.bytesOf(objects[run.first]!);
  const known = cachedRuns.get(key)?.find(({ revisions }) => isSame(revisions, objects, run));
  if (known) return known.part;
  return deflatedPart(contentOf(rendering, objects, run)).then((part) => {
    const revisions = Float64Array.from({ length: run.end - run.first }, (_, i) => objects[run.first + i]!.revision);
    // Read again: another list may have cached a run in the meantime.
    const others = (cachedRuns.get(key) ?? []).slice(0, cachedRunsMax - 1);
    cachedRuns.set(key, [{ revisions, part: { ...part, bytes: unpooled(part.bytes, 1.25) } }, ...others]);
    return part;
  });
}

function isSame(revisions: Float64Array, objects: readonly EncodedObject[], { first, end }: Run): boolean {
  if (revisions.length !== end - first) return false;
  for (let i = first; i < end; i++) if (revisions[i - first] !== objects[i]!.revision) return false;
  return true;
}

function contentOf(rendering: ListRendering, objects: readonly EncodedObject[], { first, end, bytes }: Run): Buffer {
  const { separator } = rendering;
  const content = Buffer.allocUnsafeSlow(bytes - separator.length);
  let at = 0;
  for (let i = first; i < end; i++) {
    if (i > first) at += separator.copy(content, at);
    const item = rendering.bytesOf(objects[i]!);
    at += item.copy(content, at, rendering.itemStart(item), rendering.itemEnd(item));
  }
  return content;
}

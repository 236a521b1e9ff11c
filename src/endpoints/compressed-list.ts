import type { EncodedObject } from '../cache/encoded-object.js';
import { deflatedPart, gzipHead, GzipSum, storedPart, type GzipPart } from '../codec/gzip-parts.js';
import type { ListRendering } from '../registry/rendering.js';
import type { Breather } from '../std/breather.js';

/** Items that stand together in a list, compressed as one. */
interface Run {
  readonly first: number;
  readonly end: number;
  readonly bytes: number;
}

/** A run that was compressed before: it is good for as long as it holds the same states of the same objects. */
interface KeptRun {
  readonly revisions: Float64Array;
  readonly part: GzipPart;
}

const runBytesMin = 16 * 1024;
const runBytesMax = 256 * 1024;
/** One object in so many begins a run, wherever it stands: a change then changes the run that it is in, and no other. */
const runItemsMean = 32;
/** Runs that are being compressed while the one before is on its way: Node's pool has four threads. */
const ahead = 4;
/** Runs that begin with the same object: of whole lists, and of selections. */
const keptMax = 2;

/** By the bytes of the first item, so that they go with it; each rendering of an object has bytes of its own. */
const keptRuns = new WeakMap<Buffer, KeptRun[]>();

/**
 * A list as gzip, from runs of items that were compressed before, where nothing in them has changed since. Most clients
 * ask for gzip, and most of a large list is as it was: so compressing costs what has changed, not what there is.
 */
export async function* compressedList(
  rendering: ListRendering,
  { head, tail }: { readonly head: Buffer; readonly tail: Buffer },
  objects: readonly EncodedObject[],
  { sliceBytes, breather }: { readonly sliceBytes: number; readonly breather: Breather },
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

  const runs = runsOf(rendering, objects);
  const started: (GzipPart | Promise<GzipPart>)[] = [];
  for (let i = 0; i < runs.length; i++) {
    while (started.length < runs.length && started.length <= i + ahead) {
      const run = compressedRun(rendering, objects, runs[started.length]!);
      // What fails after another has failed is told to nobody.
      if (run instanceof Promise) run.catch(() => undefined);
      started.push(run);
      if (breather.isDue()) await breather.rest();
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

function runsOf(rendering: ListRendering, objects: readonly EncodedObject[]): Run[] {
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
  }
  if (first < objects.length) runs.push({ first, end: objects.length, bytes });
  return runs;
}

/** By chance, and always the same for a state of an object. */
function beginsRun({ revision }: EncodedObject): boolean {
  return Math.imul(revision, 0x9e3779b1) >>> 0 < 2 ** 32 / runItemsMean;
}

function compressedRun(
  rendering: ListRendering,
  objects: readonly EncodedObject[],
  run: Run,
): GzipPart | Promise<GzipPart> {
  const key = rendering.bytesOf(objects[run.first]!);
  const kept = keptRuns.get(key);
  const known = kept?.find(({ revisions }) => isSame(revisions, objects, run));
  if (known) return known.part;
  return deflatedPart(contentOf(rendering, objects, run)).then((part) => {
    const revisions = Float64Array.from({ length: run.end - run.first }, (_, i) => objects[run.first + i]!.revision);
    // What was kept meanwhile by another list counts as well.
    const others = (keptRuns.get(key) ?? []).slice(0, keptMax - 1);
    keptRuns.set(key, [{ revisions, part: { ...part, bytes: unpooled(part.bytes) } }, ...others]);
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

/** What is kept long does not hold a larger buffer that it is a piece of. */
function unpooled(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength <= bytes.length * 1.25) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

import type { EncodedObject } from '../cache/encoded-object.js';
import type { GzipPart } from '../codec/gzip-parts.js';

/** Consecutive items of a list, by their indexes. */
export interface ItemRange {
  readonly first: number;
  readonly end: number;
}

/** Items compressed earlier. Valid for objects with the same revisions in the same rendering. */
interface CachedRun {
  readonly renderingId: string;
  readonly revisions: Float64Array;
  readonly part: GzipPart;
}

/** Maximum number of runs with the same first object: of the whole list, and of a selection. */
const sameFirstMax = 2;

/**
 * Compressed runs of lists, by their first object, so that a run is garbage-collected with it. Two generations limit
 * their memory: when the recent one is full it becomes the older one, and runs that were not read in it are dropped.
 */
export class CompressedRuns {
  private recent = new WeakMap<EncodedObject, CachedRun[]>();
  private older = new WeakMap<EncodedObject, CachedRun[]>();
  private recentBytes = 0;

  constructor(private readonly generationBytesMax = 32 * 1024 * 1024) {}

  find(renderingId: string, objects: readonly EncodedObject[], range: ItemRange): GzipPart | undefined {
    const first = objects[range.first]!;
    const matches = (run: CachedRun) => run.renderingId === renderingId && isSame(run.revisions, objects, range);
    const known = this.recent.get(first)?.find(matches);
    if (known) return known.part;
    const old = this.older.get(first)?.find(matches);
    if (old) this.keep(first, old);
    return old?.part;
  }

  /** Adds the run of these objects. */
  add(renderingId: string, objects: readonly EncodedObject[], part: GzipPart): void {
    const revisions = Float64Array.from(objects, ({ revision }) => revision);
    this.keep(objects[0]!, { renderingId, revisions, part });
  }

  private keep(first: EncodedObject, run: CachedRun): void {
    this.recentBytes += run.part.bytes.length + run.revisions.byteLength;
    if (this.recentBytes > this.generationBytesMax) {
      this.older = this.recent;
      this.recent = new WeakMap();
      this.recentBytes = 0;
    }
    const others = (this.recent.get(first) ?? []).slice(0, sameFirstMax - 1);
    this.recent.set(first, [run, ...others]);
  }
}

function isSame(revisions: Float64Array, objects: readonly EncodedObject[], { first, end }: ItemRange): boolean {
  if (revisions.length !== end - first) return false;
  for (let i = first; i < end; i++) if (revisions[i - first] !== objects[i]!.revision) return false;
  return true;
}

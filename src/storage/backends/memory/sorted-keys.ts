import { compareUtf8 } from '../../../std/compare-utf8.js';
import { search } from '../search.js';

const chunkKeysMax = 512;

/**
 * An ordered set of keys with fast counts: a list of sorted chunks of up to 512 keys.
 *
 *   [ a b c ] [ d f g ] [ k m ]
 *
 * An insert moves at most a few hundred pointers; a count adds the lengths of some hundred chunks per 100,000 keys.
 */
export class SortedKeys {
  private readonly chunks: string[][] = [];

  /** Adds a key, which must not be in the set. */
  add(key: string): void {
    if (this.chunks.length === 0) return void this.chunks.push([key]);
    const at = Math.min(this.chunkOf(key), this.chunks.length - 1);
    const chunk = this.chunks[at]!;
    chunk.splice(lowerBound(chunk, key), 0, key);
    if (chunk.length > chunkKeysMax) this.chunks.splice(at + 1, 0, chunk.splice(chunkKeysMax / 2));
  }

  /** Removes a key, which must be in the set. */
  remove(key: string): void {
    const at = this.chunkOf(key);
    const chunk = this.chunks[at]!;
    chunk.splice(lowerBound(chunk, key), 1);
    if (chunk.length === 0) this.chunks.splice(at, 1);
  }

  /** Yields the keys from `from` on, in order. */
  *from(from: string): Generator<string, void, void> {
    for (let at = this.chunkOf(from), first = true; at < this.chunks.length; at++, first = false) {
      const chunk = this.chunks[at]!;
      for (let i = first ? lowerBound(chunk, from) : 0; i < chunk.length; i++) yield chunk[i]!;
    }
  }

  /** Counts the keys from `from` on that start with `prefix`; `from` must not be below the prefix. */
  count(prefix: string, from: string): number {
    return this.rankPast(prefix) - this.rankOf(from);
  }

  private rankOf(key: string): number {
    const at = this.chunkOf(key);
    return this.keysBefore(at) + (at < this.chunks.length ? lowerBound(this.chunks[at]!, key) : 0);
  }

  /** Returns the rank of the first key after all keys with the prefix. */
  private rankPast(prefix: string): number {
    const isPast = (key: string) => !key.startsWith(prefix) && compareUtf8(key, prefix) > 0;
    const at = search(this.chunks.length, (i) => isPast(this.chunks[i]!.at(-1)!));
    const chunk = this.chunks[at];
    return this.keysBefore(at) + (chunk ? search(chunk.length, (i) => isPast(chunk[i]!)) : 0);
  }

  private keysBefore(chunkIndex: number): number {
    let keys = 0;
    for (let at = 0; at < chunkIndex; at++) keys += this.chunks[at]!.length;
    return keys;
  }

  /** Returns the first chunk whose last key is not below `key`, or the number of chunks. */
  private chunkOf(key: string): number {
    return search(this.chunks.length, (at) => compareUtf8(this.chunks[at]!.at(-1)!, key) >= 0);
  }
}

/** Merges the keys of two disjoint sets in order. */
export function* mergeOrdered(live: SortedKeys, gone: SortedKeys, from: string): Generator<string, void, void> {
  const other = gone.from(from);
  let waiting = other.next().value;
  for (const key of live.from(from)) {
    for (; waiting !== undefined && compareUtf8(waiting, key) < 0; waiting = other.next().value) yield waiting;
    yield key;
  }
  for (; waiting !== undefined; waiting = other.next().value) yield waiting;
}

const lowerBound = (chunk: readonly string[], key: string) =>
  search(chunk.length, (at) => compareUtf8(chunk[at]!, key) >= 0);

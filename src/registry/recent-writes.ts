import type { EncodedObject } from '../cache/encoded-object.js';
import type { Revision } from '../machinery/revision.js';

/** Smaller values are decoded in a few milliseconds. */
const rememberedBytesMin = 64 * 1024;
/** Of one resource: what was written comes back by the feed soon, or never. */
const entriesMax = 2;

interface Entry {
  readonly key: string;
  readonly value: Buffer;
  encoded: EncodedObject;
}

/**
 * The last large values that this server has written in another form than it serves, with what they decode to. The feed
 * brings each of them back within milliseconds and has to decode it at once, while nothing else runs: hundreds of
 * milliseconds for an object of megabytes. Of values in the served form OwnValues knows enough.
 */
export class RecentWrites {
  private readonly entries: Entry[] = [];

  /** `encode` is called for large values alone; its result may have any revision. */
  add(key: string, value: Buffer, encode: () => EncodedObject): void {
    if (value.length < rememberedBytesMin) return;
    this.entries.push({ key, value, encoded: encode() });
    if (this.entries.length > entriesMax) this.entries.shift();
  }

  /** What the value decodes to, if these very bytes were written under the key. */
  find(key: string, value: Buffer, revision: Revision): EncodedObject | undefined {
    if (value.length < rememberedBytesMin) return undefined;
    const entry = this.entries.find((candidate) => candidate.key === key && candidate.value.equals(value));
    if (!entry) return undefined;
    entry.encoded = entry.encoded.at(revision);
    return entry.encoded;
  }
}

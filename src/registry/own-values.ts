import type { EncodedObject } from '../cache/encoded-object.js';
import type { Revision } from '../machinery/revision.js';

/** Beyond these the oldest are forgotten. */
const entriesMax = 256;
const bytesMax = 4 * 1024 * 1024;

interface OwnValue {
  readonly value: Buffer;
  readonly encodedAt: (revision: Revision) => EncodedObject;
  encoded: EncodedObject | undefined;
}

/**
 * The last values that this process has encoded to be written. The feed brings them back within milliseconds, and has to
 * decode them while nothing else runs: bytes that are the same need not be decoded to know what is in them.
 */
export class OwnValues {
  private readonly byKey = new Map<string, OwnValue>();
  private bytes = 0;

  remember(key: string, value: Buffer, encodedAt: OwnValue['encodedAt']): void {
    this.forget(key);
    this.byKey.set(key, { value, encodedAt, encoded: undefined });
    this.bytes += value.length;
    for (const oldest of this.byKey.keys()) {
      if (this.byKey.size <= entriesMax && this.bytes <= bytesMax) return;
      this.forget(oldest);
    }
  }

  /** The object in the value, if these very bytes were encoded for the key. */
  find(key: string, value: Buffer, revision: Revision): EncodedObject | undefined {
    const own = this.byKey.get(key);
    if (!own?.value.equals(value)) return undefined;
    if (own.encoded?.revision !== revision) own.encoded = own.encodedAt(revision);
    return own.encoded;
  }

  forget(key: string): void {
    const own = this.byKey.get(key);
    if (!own) return;
    this.byKey.delete(key);
    this.bytes -= own.value.length;
  }
}

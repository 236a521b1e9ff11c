import type { Attributes } from '../cache/encoded-object.js';

/** Beyond these the oldest are forgotten: writes that failed, or that the feed has not brought for long. */
const entriesMax = 1024;
const bytesMax = 16 * 1024 * 1024;

interface OwnValue {
  readonly value: Buffer;
  readonly attributes: Attributes;
}

/**
 * Values that this process is writing, until the feed brings them back: bytes that are the same need not be parsed to
 * know what is in them.
 */
export class OwnValues {
  private readonly byKey = new Map<string, OwnValue>();
  private bytes = 0;

  remember(key: string, value: Buffer, attributes: Attributes): void {
    this.forget(key);
    this.byKey.set(key, { value, attributes });
    this.bytes += value.length;
    if (this.byKey.size > entriesMax || this.bytes > bytesMax) this.forgetOldest();
  }

  /** What is known of the value, once; undefined for all that others have written. */
  take(key: string, value: Buffer): Attributes | undefined {
    const own = this.byKey.get(key);
    if (!own?.value.equals(value)) return undefined;
    this.forget(key);
    return own.attributes;
  }

  private forget(key: string): void {
    const own = this.byKey.get(key);
    if (!own) return;
    this.byKey.delete(key);
    this.bytes -= own.value.length;
  }

  private forgetOldest(): void {
    for (const key of this.byKey.keys()) {
      this.forget(key);
      if (this.byKey.size <= entriesMax && this.bytes <= bytesMax) return;
    }
  }
}

import type { EncodedObject } from '../../cache/encoded-object.js';
import type { Revision } from '../../machinery/revision.js';
import type { TextAttributes } from './attribute-reader.js';

/** Beyond these limits the oldest values are dropped. */
const entriesMax = 256;
const bytesMax = 4 * 1024 * 1024;

interface OwnValue {
  readonly value: Buffer;
  readonly attributes: TextAttributes | undefined;
  readonly encodedAt: (revision: Revision) => EncodedObject;
  /** Weak, since its bytes are in a slab of the cache, whose memory is released when nobody has an object of it any more. */
  encoded: WeakRef<EncodedObject> | undefined;
}

/**
 * Remembers the last values that this process has written. The feed returns them within milliseconds; if the bytes are
 * equal, the cache uses the object that was encoded and need not decode them in the event loop. The writer and the feed each
 * ask for a value once, after which it is forgotten: docs/adr/085-requests-die-young.md.
 */
export class OwnValues {
  private readonly byKey = new Map<string, OwnValue>();
  private bytes = 0;

  remember(key: string, value: Buffer, encodedAt: OwnValue['encodedAt'], attributes?: TextAttributes): void {
    this.forget(key);
    this.byKey.set(key, { value, attributes, encodedAt, encoded: undefined });
    this.bytes += value.length;
    for (const oldest of this.byKey.keys()) {
      if (this.byKey.size <= entriesMax && this.bytes <= bytesMax) return;
      this.forget(oldest);
    }
  }

  /** Returns the object of the value if the same bytes were encoded for the key. */
  find(key: string, value: Buffer, revision: Revision): EncodedObject | undefined {
    const own = this.byKey.get(key);
    if (!own?.value.equals(value)) return undefined;
    const known = own.encoded?.deref();
    if (known?.revision === revision) {
      this.forget(key);
      return known;
    }
    const encoded = own.encodedAt(revision);
    own.encoded = new WeakRef(encoded);
    return encoded;
  }

  /** Returns the attributes that were remembered with this buffer. */
  attributesOf(key: string, value: Buffer): TextAttributes | undefined {
    const own = this.byKey.get(key);
    return own?.value === value ? own.attributes : undefined;
  }

  forget(key: string): void {
    const own = this.byKey.get(key);
    if (!own) return;
    this.byKey.delete(key);
    this.bytes -= own.value.length;
  }
}

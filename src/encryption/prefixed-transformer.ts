import { isPromise } from '../std/is-promise.js';
import {
  isEncrypted,
  UntransformableError,
  type TransformedValue,
  type ValueTransformer,
} from '../storage/value-transforms.js';

/** A provider, or a key of one: a transformer for values that begin with its prefix. */
export interface Prefixed {
  /** Empty for identity, which takes every value. */
  readonly prefix: string;
  readonly transformer: ValueTransformer;
}

/** Counts conversions, by the prefix of the provider. */
export type ObserveConversion = (direction: 'from_storage' | 'to_storage', prefix: string, failed: boolean) => void;

interface Options {
  /** The failure of a value that no prefix matches. */
  readonly unmatched: string;
  readonly observe?: ObserveConversion | undefined;
}

interface Entry {
  readonly prefix: Buffer;
  readonly name: string;
  readonly transformer: ValueTransformer;
}

/**
 * Writes with the first provider and reads with each whose prefix matches, in order: several may have the same prefix, with
 * different keys. Values of any but the first are stale.
 */
export class PrefixedTransformer implements ValueTransformer {
  private readonly entries: readonly Entry[];

  constructor(
    providers: readonly Prefixed[],
    private readonly options: Options,
  ) {
    this.entries = providers.map(({ prefix, transformer }) => {
      return { prefix: Buffer.from(prefix), name: prefix === '' ? 'identity' : prefix, transformer };
    });
  }

  fromStorage(value: Buffer, key: string): TransformedValue | Promise<TransformedValue> {
    return this.tryFrom(0, value, key, []);
  }

  toStorage(value: Uint8Array, key: string): Buffer | Promise<Buffer> {
    const { prefix, name, transformer } = this.entries[0]!;
    const { observe } = this.options;
    try {
      const encrypted = transformer.toStorage(value, key);
      if (isPromise(encrypted)) return encrypted.then((bytes) => Buffer.concat([prefix, bytes]));
      observe?.('to_storage', name, false);
      return prefix.length === 0 ? encrypted : Buffer.concat([prefix, encrypted]);
    } catch (error) {
      observe?.('to_storage', name, true);
      throw error;
    }
  }

  private tryFrom(
    start: number,
    value: Buffer,
    key: string,
    failures: readonly string[],
  ): TransformedValue | Promise<TransformedValue> {
    for (let at = start; at < this.entries.length; at++) {
      const { prefix, transformer } = this.entries[at]!;
      if (value.length < prefix.length || prefix.compare(value, 0, prefix.length) !== 0) continue;
      const found = transformer.fromStorage(prefix.length === 0 ? value : value.subarray(prefix.length), key);
      if (isPromise(found)) return found.then((later) => this.next(at, later, value, key, failures));
      return this.next(at, found, value, key, failures);
    }
    const { unmatched, observe } = this.options;
    if (failures.length === 0) observe?.('from_storage', 'unknown', true);
    const reasons = [...new Set(failures)];
    const reason = reasons.length > 1 ? `[${reasons.join(', ')}]` : (reasons[0] ?? unmatched);
    return { value, isStale: false, failure: new UntransformableError(reason) };
  }

  /** Returns the result of one provider, or that of the next one if it has failed. */
  private next(
    at: number,
    found: TransformedValue,
    value: Buffer,
    key: string,
    failures: readonly string[],
  ): TransformedValue | Promise<TransformedValue> {
    const { name, prefix } = this.entries[at]!;
    const { failure } = found;
    // Identity refuses encrypted values without a failure that counts: a later provider may have encrypted them.
    if (failure && prefix.length === 0) return this.tryFrom(at + 1, value, key, failures);
    this.options.observe?.('from_storage', name, failure !== undefined);
    if (failure) return this.tryFrom(at + 1, value, key, [...failures, failure.message]);
    return at === 0 || found.isStale ? found : { value: found.value, isStale: true };
  }
}

/** Stores values as they are. Does not read values that another provider has encrypted. */
export const identity: ValueTransformer = {
  fromStorage: (value) =>
    isEncrypted(value)
      ? {
          value,
          isStale: false,
          failure: new UntransformableError('identity transformer tried to read encrypted data'),
        }
      : { value, isStale: false },
  toStorage: (value) => (Buffer.isBuffer(value) ? value : Buffer.from(value)),
};

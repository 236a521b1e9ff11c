import { assert } from '../../std/assert.js';
import type { CallOptions, Write } from '../kv-store.js';
import { StorageError } from '../storage-error.js';
import type { Cancellation } from '../../std/cancellation.js';

/**
 * Limits of the memory and embedded backends. LMDB keys have at most 1,978 bytes, some of which history uses for the
 * revision.
 */
const keyBytesMax = 1_900;
export const valueBytesMax = 3 * 1024 * 1024;

export function checkWrites(writes: readonly Write[]): void {
  for (const [index, write] of writes.entries()) {
    checkKey(write.key);
    if (write.type === 'put' && write.value.length > valueBytesMax) {
      throw new StorageError(
        'tooLarge',
        `the value of ${write.key} has ${write.value.length} bytes; ${valueBytesMax} are allowed`,
      );
    }
    const isRepeated = index > 0 && writes.some((other, before) => before < index && other.key === write.key);
    assert(!isRepeated, `a transaction writes a key at most once: ${write.key}`);
  }
}

function checkKey(key: string): void {
  // A UTF-16 unit takes at most three bytes in UTF-8, so nearly every key passes without being measured.
  if (key.length * 3 <= keyBytesMax || Buffer.byteLength(key) <= keyBytesMax) return;
  throw new StorageError('tooLarge', `a key has ${Buffer.byteLength(key)} bytes; ${keyBytesMax} are allowed`);
}

/** Throws if the signal was already aborted, so that the call does nothing. */
export function checkSignal(options: CallOptions | undefined): void {
  if (options?.signal?.aborted) throw abortedError(options.signal);
}

export function abortedError(signal: Cancellation): StorageError {
  return new StorageError('unavailable', 'the caller aborted the call', { cause: signal.reason });
}

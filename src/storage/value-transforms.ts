import type { GroupResource } from '../machinery/gvk.js';

/** Converts values between the bytes in the store and the bytes that the server decodes. */
export interface ValueTransforms {
  /** Returns the transformer of a key; undefined if values are stored under it as they are. */
  of(key: string): ValueTransformer | undefined;
  /** Declares that keys which begin with `prefix` are objects of the resource. */
  addResource(prefix: string, resource: GroupResource): void;
}

/** Converts the values of one resource. Both methods return promises only if another process has to be asked. */
export interface ValueTransformer {
  /** Never throws or rejects: a value that cannot be converted has a failure. */
  fromStorage(value: Buffer, key: string): TransformedValue | Promise<TransformedValue>;
  /** Throws or rejects with StorageError. */
  toStorage(value: Uint8Array, key: string): Buffer | Promise<Buffer>;
}

export interface TransformedValue {
  /** The stored bytes if there is a failure. */
  readonly value: Buffer;
  /** True if a new write would use another provider or key. */
  readonly isStale: boolean;
  readonly failure?: UntransformableError;
}

/** A stored value cannot be converted to the bytes that the server decodes: it cannot be decrypted. */
export class UntransformableError extends Error {
  override readonly name = 'UntransformableError';
}

const encryptedMark = Buffer.from('k8s:enc:');

/** True for values that a provider of encryption at rest has written. No encoding of objects begins like them. */
export function isEncrypted(value: Uint8Array): boolean {
  return value.length >= encryptedMark.length && encryptedMark.compare(value, 0, encryptedMark.length) === 0;
}

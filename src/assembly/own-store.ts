import type { KvStore } from '../storage/kv-store.js';

/** A store that a program opens itself, in the place of the one that its flags name. */
export interface OwnStore {
  readonly kv: KvStore;
  /** Of a store that already answers: resolves when it has all that it is made of. */
  readonly whole?: Promise<void>;
}

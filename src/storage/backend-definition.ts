import type { ServerConfig } from '../config/server-config.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';
import type { KvStore, ValueReader } from './kv-store.js';

/** Declares a storage backend: an implementation of KvStore that passes test/contract/kv-store.contract.ts. */
export interface BackendDefinition<Name extends string = string> {
  /** The name in --storage-backend. */
  readonly name: Name;
  /** True if several servers may use one store. They then elect the server that runs the reconcilers of the leader. */
  readonly isShared: boolean;
  /** Compaction of old history: by the store itself, or by this server every --etcd-compaction-interval. */
  readonly compactedBy: 'store' | 'server';
  /** Opens the store that the configuration names. The server closes it. */
  open(dependencies: BackendDependencies): Promise<KvStore>;
  /**
   * Lets a worker read values that the first process has stored, so that it need not keep them in memory. Without it, workers
   * keep all values.
   */
  openReader?(dependencies: BackendDependencies): Promise<ValueReader>;
}

/** Dependencies that `open` of every backend receives. */
export interface BackendDependencies {
  readonly config: Pick<ServerConfig, 'storage' | 'limits'>;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  /** True for `keelson check`, which writes nothing. */
  readonly isReadOnly: boolean;
}

export function defineStorageBackend<const Name extends string>(
  definition: BackendDefinition<Name>,
): BackendDefinition<Name> {
  return definition;
}

import type { EmbeddedStoreOptions } from './backends/embedded/embedded-store.js';
import type { EtcdStoreOptions } from './backends/etcd/etcd-store.js';
import type { MemoryStoreOptions } from './backends/memory/memory-store.js';
import type { KvStore } from './kv-store.js';

/**
 * The storage backends. Each is imported when it is opened. To add one: a folder under backends/, a line in both lists,
 * and a spec that runs the contract suite.
 */
export interface BackendOptions {
  readonly memory: MemoryStoreOptions;
  readonly embedded: EmbeddedStoreOptions;
  readonly etcd: EtcdStoreOptions;
}

export type BackendScheme = keyof BackendOptions;

export const backends: {
  readonly [Scheme in BackendScheme]: (options: BackendOptions[Scheme]) => Promise<KvStore>;
} = {
  memory: async (options) => new (await import('./backends/memory/memory-store.js')).MemoryStore(options),
  embedded: async (options) => (await import('./backends/embedded/embedded-store.js')).EmbeddedStore.open(options),
  etcd: async (options) => (await import('./backends/etcd/etcd-store.js')).openEtcdStore(options),
};

import { defineStorageBackend } from '../../backend-definition.js';

/** Holds the objects in the memory of this process. */
export const memoryBackend = defineStorageBackend({
  name: 'memory',
  isShared: false,
  compactedBy: 'store',
  async open({ config, clock }) {
    const { MemoryStore } = await import('./memory-store.js');
    return new MemoryStore({ clock, historyMs: config.storage.etcd.compactionIntervalMs });
  },
});

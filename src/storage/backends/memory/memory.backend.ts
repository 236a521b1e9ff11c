import { defineStorageBackend } from '../../backend-definition.js';

/** Holds the objects in the memory of this process. */
export const memoryBackend = defineStorageBackend({
  name: 'memory',
  isShared: false,
  compactedBy: 'store',
  open: async ({ clock }) => new (await import('./memory-store.js')).MemoryStore({ clock }),
});

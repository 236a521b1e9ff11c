import { join } from 'node:path';
import { defineStorageBackend } from '../../backend-definition.js';

/** Holds the objects in the directory `store` of --data-dir. */
export const embeddedBackend = defineStorageBackend({
  name: 'embedded',
  isShared: false,
  compactedBy: 'store',
  async open({ config, isReadOnly, clock, logger }) {
    const { EmbeddedStore } = await import('./embedded-store.js');
    // A store that is opened for reading writes no owner file.
    const { dataDirectory, etcd } = config.storage;
    const historyMs = etcd.compactionIntervalMs;
    return EmbeddedStore.open({ directory: join(dataDirectory, 'store'), isReadOnly, historyMs, clock, logger });
  },
});

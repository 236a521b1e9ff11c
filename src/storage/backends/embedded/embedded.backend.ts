import { join } from 'node:path';
import { defineStorageBackend, type BackendDependencies } from '../../backend-definition.js';

const directoryOf = ({ storage }: BackendDependencies['config']) => join(storage.dataDirectory, 'store');

/** Holds the objects in the directory `store` of --data-dir. */
export const embeddedBackend = defineStorageBackend({
  name: 'embedded',
  isShared: false,
  compactedBy: 'store',
  async open({ config, isReadOnly, clock, logger }) {
    const { EmbeddedStore } = await import('./embedded-store.js');
    // A store that is opened for reading writes no owner file.
    const historyMs = config.storage.etcd.compactionIntervalMs;
    return EmbeddedStore.open({ directory: directoryOf(config), isReadOnly, historyMs, clock, logger });
  },
  async openReader({ config, clock, logger }) {
    const { FileReader } = await import('./file-reader.js');
    return FileReader.open({ directory: directoryOf(config), clock, logger });
  },
});

import { defineStorageBackend } from '../../backend-definition.js';

/** Holds the objects in the etcd cluster of --etcd-servers. */
export const etcdBackend = defineStorageBackend({
  name: 'etcd3',
  isShared: true,
  compactedBy: 'server',
  async open({ config: { storage, limits }, clock, logger, rng }) {
    const { servers, caFile, certFile, keyFile } = storage.etcd;
    const { openEtcdStore } = await import('./etcd-store.js');
    return openEtcdStore({
      servers,
      ...(caFile !== undefined && { caFile }),
      ...(certFile !== undefined && { certFile }),
      ...(keyFile !== undefined && { keyFile }),
      callTimeoutMs: limits.storeRequestTimeoutMs,
      clock,
      logger,
      rng,
    });
  },
});

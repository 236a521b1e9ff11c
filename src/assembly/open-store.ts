import { join } from 'node:path';
import type { ServerConfig } from '../config/server-config.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';
import { backends } from '../storage/backends.js';
import type { KvStore } from '../storage/kv-store.js';

/** Opens the configured store. isReadOnly concerns only the embedded store: it then writes no owner file. */
export function openStore(
  { storage, limits }: ServerConfig,
  { clock, rng, logger, isReadOnly = false }: { clock: Clock; rng: Rng; logger: Logger; isReadOnly?: boolean },
): Promise<KvStore> {
  const { etcd, dataDirectory } = storage;
  switch (storage.backend) {
    case 'memory':
      return backends.memory({ clock });
    case 'embedded':
      return backends.embedded({ directory: join(dataDirectory, 'store'), isReadOnly, clock, logger });
    case 'etcd3':
      return backends.etcd({
        servers: etcd.servers,
        ...(etcd.caFile !== undefined && { caFile: etcd.caFile }),
        ...(etcd.certFile !== undefined && { certFile: etcd.certFile }),
        ...(etcd.keyFile !== undefined && { keyFile: etcd.keyFile }),
        callTimeoutMs: limits.storeRequestTimeoutMs,
        clock,
        logger,
        rng,
      });
  }
}

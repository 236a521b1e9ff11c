import type { ServerConfig } from '../config/server-config.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';
import { ensureObject } from './boot/ensure-object.js';
import { namespaceObjects, type Authority } from './boot/namespace-objects.js';
import { followNames } from './follow.js';
import type { RunningReconciler } from './reconciler.js';
import { WorkQueue } from './work-queue.js';

interface Parts {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
}

const workersMax = 4;
const unmeasured = {
  added: () => undefined,
  taken: () => undefined,
  worked: () => undefined,
  retried: () => undefined,
};

/** Keeps the objects that every namespace has: made when a namespace is, and made again when somebody takes them away. */
export function keepNamespaceObjects(parts: Parts, pki: Authority): RunningReconciler {
  const { config, registry, clock, rng, logger } = parts;
  const namespaces = registry.require('', 'v1', 'namespaces');
  const queue = new WorkQueue({
    clock,
    rng,
    workersMax,
    observer: unmeasured,
    failed: (namespace, error, retryInMs) =>
      logger.warn('a namespace lacks objects that it should have', { namespace, error, retryInMs }),
    async work(namespace) {
      const found = namespaces.store.cache.get(namespaces.store.keyOf('', namespace));
      if (!found || found.corruption || found.parse().metadata.deletionTimestamp !== undefined) return;
      for (const object of namespaceObjects(config, namespace, pki)) await ensureObject(registry, object);
    },
  });
  const kept = new Set(
    namespaceObjects(config, '', pki).map(({ resource, object }) => `${resource}/${object.metadata.name}`),
  );
  const ends = [
    followNames(namespaces, (_namespace, name) => queue.add(name)),
    ...['serviceaccounts', 'configmaps'].map((resource) =>
      followNames(registry.require('', 'v1', resource), (namespace, name) => {
        if (kept.has(`${resource}/${name}`)) queue.add(namespace);
      }),
    ),
  ];
  return {
    async stop() {
      for (const end of ends) end();
      await queue.stop();
    },
  };
}

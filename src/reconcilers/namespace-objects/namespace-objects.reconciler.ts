import { ensureObject } from '../boot/ensure-object.js';
import { namespaceObjects } from '../boot/namespace-objects.js';
import { followNames } from '../follow.js';
import type { Reconciler } from '../reconciler.js';

/** The account that Pods of a namespace act as when they name none. */
export const defaultAccounts = keeper('serviceaccount-controller', 'serviceaccount', 'serviceaccounts');
/** By whom Pods know the server. */
export const rootCaPublisher = keeper(
  'root-ca-certificate-publisher-controller',
  'root_ca_cert_publisher',
  'configmaps',
);

const workersMax = 4;

/** Keeps an object that every namespace has: made when a namespace is, and again when somebody takes it away. */
function keeper(name: string, queueName: string, resource: string): Reconciler {
  return {
    name,
    yieldsToUpstream: true,
    start({ config, registry, server, upstream, queue: makeQueue }) {
      const namespaces = registry.require('', 'v1', 'namespaces');
      const objectsOf = (namespace: string) =>
        namespaceObjects(config, namespace, {
          rootCaPem: server.rootCa.current(),
          isLeftToUpstream: () => upstream.isActive(),
        }).filter((boot) => boot.resource === resource);
      const queue = makeQueue(
        queueName,
        async (namespace) => {
          const found = namespaces.store.cache.get(namespaces.store.keyOf('', namespace));
          if (!found || found.corruption || found.attributes.lifetime?.isDeleting) return;
          for (const object of objectsOf(namespace)) await ensureObject(registry, object);
        },
        { workersMax },
      );
      const kept = new Set(objectsOf('').map(({ object }) => object.metadata.name));
      const lookAtAll = () => {
        const { store } = namespaces;
        for (const { attributes } of store.cache.snapshot().range(store.scopeOf(''))) queue.add(attributes.name);
      };
      const ends = [
        server.rootCa.onChange(lookAtAll),
        followNames(namespaces, (_namespace, namespace) => queue.add(namespace)),
        followNames(registry.require('', 'v1', resource), (namespace, found) => {
          if (kept.has(found)) queue.add(namespace);
        }),
      ];
      return {
        async stop() {
          for (const end of ends) end();
          await queue.stop();
        },
      };
    },
  };
}

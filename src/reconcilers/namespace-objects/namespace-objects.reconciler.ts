import { ensureObject } from '../boot/ensure-object.js';
import { namespaceObjects } from '../boot/namespace-objects.js';
import { followNames } from '../follow.js';
import { defineReconciler, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';

/** Keeps the service account `default` in every namespace. */
export const defaultAccounts = defineReconciler({
  name: 'serviceaccount-controller',
  runs: 'by default',
  runsOn: 'leader',
  role: 'service-account-controller',
  yieldsToUpstream: true,
  start: (dependencies) => keepInNamespaces(dependencies, 'serviceaccount', 'serviceaccounts'),
});

/** Keeps the ConfigMap with the CA bundle of the server in every namespace. */
export const rootCaPublisher = defineReconciler({
  name: 'root-ca-certificate-publisher-controller',
  runs: 'by default',
  runsOn: 'leader',
  role: 'root-ca-cert-publisher',
  yieldsToUpstream: true,
  start: (dependencies) => keepInNamespaces(dependencies, 'root_ca_cert_publisher', 'configmaps'),
});

const workersMax = 4;

/** Creates an object in each new namespace, and again if it is deleted. */
function keepInNamespaces(
  { config, registry, server, upstream, queue: makeQueue }: ReconcilerDependencies,
  queueName: string,
  resource: string,
): RunningReconciler {
  const { store } = registry.require('', 'v1', 'namespaces');
  const objectsOf = (namespace: string) =>
    namespaceObjects(config, namespace, {
      rootCaPem: server.rootCa.current(),
      isLeftToUpstream: () => upstream.isActive(),
    }).filter((boot) => boot.resource === resource);
  const queue = makeQueue(
    queueName,
    async (namespace) => {
      const found = store.cache.get(store.keyOf('', namespace));
      if (!found || found.corruption || found.attributes.lifetime?.isDeleting) return;
      for (const object of objectsOf(namespace)) await ensureObject(registry, object);
    },
    { workersMax },
  );
  const kept = new Set(objectsOf('').map(({ object }) => object.metadata.name));
  const addAll = () => {
    for (const { attributes } of store.cache.snapshot().range(store.scopeOf(''))) queue.add(attributes.name);
  };
  const ends = [
    server.rootCa.onChange(addAll),
    followNames(registry.require('', 'v1', 'namespaces'), (_namespace, namespace) => queue.add(namespace)),
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
}

import type { CacheEvent } from '../cache/cache-event.js';
import type { EncodedObject } from '../cache/encoded-object.js';
import { readFresh } from '../registry/read/freshness.js';
import type { ServedResource } from '../registry/resource-registry.js';
import {
  defineReconciler,
  idle,
  type ReconcilerDependencies,
  type RunningReconciler,
} from '../reconcilers/reconciler.js';
import type { KvStore } from '../storage/kv-store.js';
import { clusterPrefix, deleteClusterKeys, storedClusters } from './cluster-keys.js';
import { clusterKeysFinalizer, clustersVersion, logicalClusters } from './logical-cluster.resources.js';
import type { LogicalClusters } from './logical-clusters.js';

interface Dependencies {
  readonly clusters: LogicalClusters;
  /** The store of the root. */
  readonly store: KvStore;
  readonly etcdPrefix: string;
}

/**
 * Deletes the keys of LogicalClusters that are deleted, then removes their finalizer. At each start also the keys of clusters
 * that are gone, since a user may have removed the finalizer.
 */
export function clusterRemoval(own: Dependencies) {
  return defineReconciler({
    name: 'logical-cluster-removal',
    runs: 'always',
    runsOn: 'every server',
    start: (dependencies) => {
      const { group, version } = clustersVersion;
      const served = dependencies.registry.find(group, version, logicalClusters.plural);
      // --runtime-config may disable them.
      return served?.type === 'stored' ? new ClusterRemoval(own, served, dependencies) : idle;
    },
  });
}

class ClusterRemoval implements RunningReconciler {
  private readonly names = new Map<string, string>();
  private readonly queue;
  private readonly end: () => void;

  constructor(
    private readonly own: Dependencies,
    private readonly served: ServedResource,
    private readonly dependencies: ReconcilerDependencies,
  ) {
    this.queue = dependencies.queue('logical_clusters', (uid, signal) => this.remove(uid, signal), { workersMax: 4 });
    this.end = served.store.cache.observe({
      changed: ({ current, previous }: CacheEvent) => this.check(current ?? previous, current === undefined),
      reset: () => this.checkAll(),
    });
    this.queue.add(everyStored);
  }

  async stop(): Promise<void> {
    this.end();
    await this.queue.stop();
  }

  private checkAll(): void {
    const { cache } = this.served.store;
    for (const object of cache.snapshot().range(this.served.store.scopeOf(''))) this.check(object, false);
  }

  private check(object: EncodedObject | undefined, isGone: boolean): void {
    if (!object || (!isGone && !object.attributes.lifetime?.isDeleting)) return;
    const { uid, name } = object.attributes;
    if (uid === undefined) return;
    this.names.set(uid, name);
    this.queue.add(uid);
  }

  private async remove(uid: string, signal: AbortSignal): Promise<void> {
    if (uid === everyStored) return this.removeForgotten();
    const { clusters, store, etcdPrefix } = this.own;
    const name = this.names.get(uid) ?? '';
    await clusters.remove({ name, uid });
    await deleteClusterKeys(store, clusterPrefix(etcdPrefix, uid));
    clusters.forget({ uid });
    if (name !== '') await this.removeFinalizer(name, uid, signal);
    this.names.delete(uid);
  }

  private async removeForgotten(): Promise<void> {
    const { store, etcdPrefix } = this.own;
    const { cache, dependencies } = this.served.store;
    // Read before the objects: a cluster has keys only after its object.
    const uids = await storedClusters(store, etcdPrefix);
    await readFresh(dependencies, cache, undefined, undefined);
    const existing = new Set<string>();
    for (const { attributes, corruption } of cache.snapshot().range(this.served.store.scopeOf(''))) {
      if (corruption || attributes.uid === undefined) {
        this.dependencies.logger.warn(
          'keys of deleted logical clusters stay in the store, since a LogicalCluster cannot be read: delete or repair it',
          { cluster: attributes.name },
        );
        return;
      }
      existing.add(attributes.uid);
    }
    for (const uid of uids) if (!existing.has(uid)) this.queue.add(uid);
  }

  private async removeFinalizer(name: string, uid: string, signal: AbortSignal): Promise<void> {
    await this.dependencies.client.change(
      { served: this.served, namespace: '', name },
      (current) => ({
        ...current,
        metadata: {
          ...current.metadata,
          finalizers: (current.metadata.finalizers ?? []).filter((finalizer) => finalizer !== clusterKeysFinalizer),
        },
      }),
      { preconditions: { uid }, signal },
    );
  }
}

/** An item of the queue that is no uid. */
const everyStored = '*';

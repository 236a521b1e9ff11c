import { remoteResources } from '../../aggregation/remote-resources.js';
import type { Namespace } from '../../catalog/types/core.v1.js';
import { namespaceFinalizer } from '../../machinery/finalizers.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { followAll, followNames } from '../follow.js';
import { defineReconciler, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import { emptyNamespace } from './contents.js';
import { conditionsAfter, isEmpty, type Survey } from './decide.js';
import { emptyRemotely, noContents } from './remote-contents.js';

/**
 * Waits for writes that were admitted before the namespace was deleted: on other servers until their caches have the
 * deletion (as long as kube-controller-manager waits), on this one for the time of a request.
 */
const drainSharedMs = 5000;
const drainAloneMs = 100;
/** Deletions of objects trigger a check at once; this is for those that were missed. */
const recheckMs = 15_000;
const remoteRecheckMs = 5_000;
/** Collects the deletions of many objects into one check. */
const gatherMs = 50;

/** Deletes the contents of a terminating namespace, then removes its finalizer in spec.finalizers. */
export const namespaceReconciler = defineReconciler({
  name: 'namespace-controller',
  runs: 'by default',
  runsOn: 'leader',
  role: 'namespace-controller',
  yieldsToUpstream: true,
  start: (dependencies) => new NamespaceDeletion(dependencies),
});

class NamespaceDeletion implements RunningReconciler {
  private readonly deleting = new Set<string>();
  private readonly ends: (() => void)[];
  private readonly queue;
  private readonly namespaces;

  constructor(private readonly dependencies: ReconcilerDependencies) {
    const { registry, sharesStore } = dependencies;
    this.namespaces = registry.require('', 'v1', 'namespaces');
    this.queue = dependencies.queue('namespace', (name, signal) => this.reconcile(name, signal), { workersMax: 4 });
    const { store } = this.namespaces;
    this.ends = [
      followNames(this.namespaces, (_, name) => {
        const isDeleting = store.cache.get(store.keyOf('', name))?.attributes.lifetime?.isDeleting ?? false;
        if (!isDeleting) this.deleting.delete(name);
        else if (this.deleting.has(name)) this.queue.addAfter(name, gatherMs);
        else {
          this.deleting.add(name);
          this.queue.addAfter(name, sharesStore ? drainSharedMs : drainAloneMs);
        }
      }),
      followAll(registry, {
        observerOf: ({ definition }) =>
          definition.namespaced
            ? {
                changed: ({ previous, current }) => {
                  if (this.deleting.size === 0) return;
                  const { namespace } = (current ?? previous)!.attributes;
                  if (this.deleting.has(namespace)) this.queue.addAfter(namespace, gatherMs);
                },
                reset: () => this.checkAll(),
              }
            : undefined,
        gone: () => this.checkAll(),
      }),
      dependencies.aggregation.documents.onDiscovery(() => this.checkAll()),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
  }

  private checkAll(): void {
    for (const name of this.deleting) this.queue.addAfter(name, gatherMs);
  }

  private async reconcile(name: string, signal: AbortSignal): Promise<void | { againInMs: number }> {
    const { registry, client, aggregation, remoteObjects } = this.dependencies;
    const ref = { served: this.namespaces, namespace: '', name };
    const namespace: Namespace | undefined = await client.live(ref, signal);
    if (!namespace || namespace.metadata.deletionTimestamp === undefined || !this.hasFinalizer(namespace)) return;
    const { feed, limits } = this.namespaces.store.dependencies;
    await feed.consistentRevision({ caller: { signal }, timeoutMs: limits.freshnessTimeoutMs });
    const { hasPods, graceSecondsMax, ...local } = await emptyNamespace(registry, client, name, signal);
    const found = remoteResources(aggregation.versions, aggregation.documents);
    const remote = hasPods ? noContents : await emptyRemotely(found.resources, remoteObjects, name, signal);
    const survey: Survey = {
      unreadable: local.unreadable,
      stale: found.stale,
      failures: [...local.failures, ...remote.failures],
      remains: [...local.remains, ...remote.remains],
    };
    await this.report(name, namespace, survey, signal);
    if (survey.failures.length > 0) throw new Error(`the contents could not be deleted: ${survey.failures.join('; ')}`);
    // Deletions on other servers cause no events here.
    if (remote.remains.length > 0) return { againInMs: remoteRecheckMs };
    if (!isEmpty(survey)) return { againInMs: Math.max(recheckMs, (graceSecondsMax * 1000) / 2) };
    await this.removeFinalizer(name, namespace, signal);
  }

  private hasFinalizer({ spec }: Namespace): boolean {
    return (spec?.finalizers ?? []).includes(this.finalizer);
  }

  private get finalizer(): string {
    return namespaceFinalizer(this.dependencies.config.naming);
  }

  private async report(name: string, { metadata }: Namespace, survey: Survey, signal: AbortSignal): Promise<void> {
    const now = objectTime(this.dependencies.clock.now());
    await this.dependencies.client.change(
      { served: this.namespaces, namespace: '', name },
      (current: Namespace) => {
        const before = current.status?.conditions ?? [];
        const conditions = conditionsAfter(before, survey, now);
        return conditions === before ? current : { ...current, status: { ...current.status, conditions } };
      },
      { subresource: 'status', preconditions: { uid: metadata.uid }, signal },
    );
  }

  private async removeFinalizer(name: string, { metadata }: Namespace, signal: AbortSignal): Promise<void> {
    await this.dependencies.client.change(
      { served: this.namespaces, namespace: '', name },
      (current: Namespace) => {
        const finalizers = (current.spec?.finalizers ?? []).filter((finalizer) => finalizer !== this.finalizer);
        return { ...current, spec: { ...current.spec, finalizers } };
      },
      { subresource: 'finalize', preconditions: { uid: metadata.uid }, signal },
    );
  }
}

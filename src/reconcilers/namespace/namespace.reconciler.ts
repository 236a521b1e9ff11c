import { asFields, asItems, asTexts } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { followAll, followNames } from '../follow.js';
import type { Reconciler, ReconcilerParts, RunningReconciler } from '../reconciler.js';
import { emptyNamespace } from './contents.js';
import { conditionsAfter, isEmpty, type Condition, type Survey } from './decide.js';

/**
 * Writes that were admitted before the namespace was deleted may still be on their way: on other servers until their
 * caches have seen the deletion (the reference waits as long), on this one for the time of a request.
 */
const settleSharedMs = 5000;
const settleAloneMs = 100;
/** What goes wakes it up at once; this is for what goes unseen. */
const lookAgainMs = 15_000;
/** Many objects go at a time. */
const gatherMs = 50;

/** A namespace that is deleted loses its contents, and then the finalizer by which the server holds it. */
export const namespaceReconciler: Reconciler = {
  name: 'namespace-controller',
  yieldsToUpstream: true,
  start: (parts) => new NamespaceDeletion(parts),
};

class NamespaceDeletion implements RunningReconciler {
  private readonly deleting = new Set<string>();
  private readonly ends: (() => void)[];
  private readonly queue;
  private readonly namespaces;

  constructor(private readonly parts: ReconcilerParts) {
    const { registry, sharesStore } = parts;
    this.namespaces = registry.require('', 'v1', 'namespaces');
    this.queue = parts.queue('namespace', (name, signal) => this.reconcile(name, signal), { workersMax: 4 });
    const { store } = this.namespaces;
    this.ends = [
      followNames(this.namespaces, (_, name) => {
        const isDeleting = store.cache.get(store.keyOf('', name))?.attributes.lifetime?.isDeleting ?? false;
        if (!isDeleting) this.deleting.delete(name);
        else if (this.deleting.has(name)) this.queue.addAfter(name, gatherMs);
        else {
          this.deleting.add(name);
          this.queue.addAfter(name, sharesStore ? settleSharedMs : settleAloneMs);
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
                reset: () => this.lookAtAll(),
              }
            : undefined,
        gone: () => this.lookAtAll(),
      }),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
  }

  private lookAtAll(): void {
    for (const name of this.deleting) this.queue.addAfter(name, gatherMs);
  }

  private async reconcile(name: string, signal: AbortSignal): Promise<void | { againInMs: number }> {
    const { registry, client } = this.parts;
    const place = { served: this.namespaces, namespace: '', name };
    const namespace = await client.live(place, signal);
    if (!namespace || namespace.metadata.deletionTimestamp === undefined || !this.isOurs(namespace)) return;
    const { feed, limits } = this.namespaces.store.dependencies;
    await feed.consistentRevision({ signal, timeoutMs: limits.freshnessTimeoutMs });
    const survey = await emptyNamespace(registry, client, name, signal);
    await this.report(name, namespace, survey, signal);
    if (survey.failures.length > 0) throw new Error(`the contents could not be deleted: ${survey.failures.join('; ')}`);
    if (!isEmpty(survey)) return { againInMs: Math.max(lookAgainMs, (survey.graceSecondsMax * 1000) / 2) };
    await this.letGo(name, namespace, signal);
  }

  private isOurs(namespace: KubeObject): boolean {
    return asTexts(asFields(namespace['spec'])['finalizers']).includes(this.finalizer);
  }

  private get finalizer(): string {
    return this.parts.config.naming.serviceName;
  }

  private async report(name: string, { metadata }: KubeObject, survey: Survey, signal: AbortSignal): Promise<void> {
    const now = objectTime(this.parts.clock.now());
    await this.parts.client.change(
      { served: this.namespaces, namespace: '', name },
      (current) => {
        const status = asFields(current['status']);
        const before = asItems(status['conditions']) as unknown as Condition[];
        const conditions = conditionsAfter(before, survey, now);
        return conditions === before ? current : { ...current, status: { ...status, conditions } };
      },
      { subresource: 'status', preconditions: { uid: metadata.uid }, signal },
    );
  }

  private async letGo(name: string, { metadata }: KubeObject, signal: AbortSignal): Promise<void> {
    await this.parts.client.change(
      { served: this.namespaces, namespace: '', name },
      (current) => {
        const spec = asFields(current['spec']);
        const finalizers = asTexts(spec['finalizers']).filter((finalizer) => finalizer !== this.finalizer);
        return { ...current, spec: { ...spec, finalizers } };
      },
      { subresource: 'finalize', preconditions: { uid: metadata.uid }, signal },
    );
  }
}

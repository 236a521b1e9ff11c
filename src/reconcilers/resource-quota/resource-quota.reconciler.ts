import { parseAmounts, sumOfAll, type Amounts } from '../../admission/amounts.js';
import { Evaluators } from '../../admission/quota/evaluators.js';
import { scopesOf } from '../../admission/quota/scopes.js';
import type { CacheEvent } from '../../cache/cache-event.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import type { ResourceQuota } from '../../catalog/types/core.v1.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { LoopYieldTimer } from '../../std/loop-yield-timer.js';
import { followAll } from '../follow.js';
import { defineReconciler, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import type { WorkQueue } from '../work-queue.js';
import { decide } from './decide.js';
import { ObjectUsages } from './object-usages.js';
import { RecentCharges } from './recent-charges.js';

/**
 * Keeps status.hard and status.used of ResourceQuotas. Admission adds the usage of new objects; this reconciler removes
 * that of objects that were deleted or never stored.
 */
export const resourceQuotas = defineReconciler({
  name: 'resourcequota-controller',
  runs: 'by default',
  runsOn: 'leader',
  role: 'resourcequota-controller',
  yieldsToUpstream: true,
  start: (dependencies) => new ResourceQuotas(dependencies),
});

/** Collects changes of many objects into one count. */
const gatherMs = 100;
/** Time in which an object that admission has charged is stored, with a margin for a slow store. */
const recentMs = 2_000;
/** Interval of full recounts, that of kube-controller-manager. */
const recountMs = 300_000;
/** Other requests run after each slice of a long count. */
const sliceMs = 5;
const workersMax = 5;

interface Counted {
  readonly served: ServedResource;
  readonly usages: ObjectUsages;
  readonly counts: (name: string) => boolean;
}

class ResourceQuotas implements RunningReconciler {
  private readonly queue: WorkQueue;
  private readonly quotas: ServedResource;
  private readonly charges: RecentCharges;
  /** Limited resource names by namespace and quota: events of namespaces without quotas cost one look-up. */
  private readonly limits = new Map<string, Map<string, readonly string[]>>();
  private readonly counted = new Map<ServedResource, Counted>();
  private readonly evaluators: Evaluators;
  private readonly ends: (() => void)[];

  constructor(private readonly dependencies: ReconcilerDependencies) {
    const { registry, clock, config } = dependencies;
    this.evaluators = new Evaluators(config.naming);
    this.charges = new RecentCharges(clock, recentMs);
    this.quotas = registry.require('', 'v1', 'resourcequotas');
    this.queue = dependencies.queue('resourcequota', (key, signal) => this.reconcile(key, signal), { workersMax });
    const { cache } = this.quotas.store;
    this.ends = [
      cache.observe({
        changed: (event) => this.quotaChanged(event),
        reset: () => this.readQuotas(),
      }),
      followAll(registry, {
        observerOf: (served) => this.observerOf(served),
        gone: (served) => void this.counted.delete(served),
      }),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
  }

  private readQuotas(): void {
    const { store } = this.quotas;
    this.limits.clear();
    for (const quota of store.cache.snapshot().range(store.scopeOf(''))) this.noteLimits(quota);
  }

  private quotaChanged({ previous, current }: CacheEvent): void {
    const { key, attributes } = (current ?? previous)!;
    this.charges.note(key, parsed(previous), parsed(current));
    if (current) return this.noteLimits(current);
    const { namespace, name } = attributes;
    this.limits.get(namespace)?.delete(name);
    if (this.limits.get(namespace)?.size === 0) this.limits.delete(namespace);
  }

  private noteLimits(quota: EncodedObject): void {
    const { namespace, name } = quota.attributes;
    if (!this.limits.has(namespace)) this.limits.set(namespace, new Map());
    this.limits.get(namespace)!.set(name, Object.keys(parsed(quota)?.spec?.hard ?? {}));
    this.queue.addAfter(`${namespace}/${name}`, 0);
  }

  private observerOf(served: ServedResource) {
    const { group, plural, namespaced } = served.definition;
    const evaluator = namespaced ? this.evaluators.of({ group, resource: plural }) : undefined;
    if (!evaluator) return undefined;
    const counts = (name: string) => evaluator.counts(name);
    this.counted.set(served, { served, usages: new ObjectUsages(evaluator), counts });
    return {
      changed: ({ previous, current }: CacheEvent) =>
        this.checkSoon((current ?? previous)!.attributes.namespace, counts),
      reset: () => {
        for (const namespace of this.limits.keys()) this.checkSoon(namespace, counts);
      },
    };
  }

  private checkSoon(namespace: string, counts: (name: string) => boolean): void {
    const quotas = this.limits.get(namespace);
    if (!quotas) return;
    for (const [name, limited] of quotas) {
      if (limited.some(counts)) this.queue.addAfter(`${namespace}/${name}`, gatherMs);
    }
  }

  private async reconcile(key: string, signal: AbortSignal): Promise<void | { againInMs: number }> {
    const [namespace = '', name = ''] = key.split('/');
    const { store } = this.quotas;
    const found = store.cache.get(store.keyOf(namespace, name));
    const quota = parsed(found);
    if (!found || !quota || found.attributes.lifetime?.isDeleting) return;
    // Read before the count awaits anything. The write fails if the quota changes in between.
    const recent = this.charges.of(found.key);
    const { status, waits } = decide(quota, await this.count(quota, namespace), recent);
    if (status) {
      const { uid, resourceVersion } = quota.metadata;
      await this.dependencies.client.change(
        { served: this.quotas, namespace, name },
        (current) => ({ ...current, status }),
        {
          subresource: 'status',
          preconditions: { uid, resourceVersion },
          signal,
        },
      );
    }
    return { againInMs: waits ? recentMs : recountMs };
  }

  private async count(quota: ResourceQuota, namespace: string): Promise<Amounts> {
    const { clock } = this.dependencies;
    const limited = [...parseAmounts(quota.spec?.hard).keys()];
    const scopes = scopesOf(quota);
    const options = { nowMs: clock.now(), yieldTimer: new LoopYieldTimer(clock, sliceMs) };
    const counts = [...this.counted.values()].flatMap(({ served: { store }, usages, counts: isCounted }) => {
      const names = limited.filter(isCounted);
      return names.length === 0
        ? []
        : [{ names, usages, objects: store.cache.snapshot().range(store.scopeOf(namespace)) }];
    });
    const amounts: Amounts[] = [];
    for (const { names, usages, objects } of counts) amounts.push(await usages.count(names, scopes, objects, options));
    return sumOfAll(amounts);
  }
}

/** Undefined for a quota that cannot be read, which limits nothing. */
function parsed(quota: EncodedObject | undefined): ResourceQuota | undefined {
  return quota && !quota.corruption ? quota.parse() : undefined;
}

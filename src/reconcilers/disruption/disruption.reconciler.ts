import type { CacheEvent } from '../../cache/cache-event.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import type { PodDisruptionBudget } from '../../catalog/types/policy.v1.js';
import { labelSelectorOf } from '../../machinery/label-selector-object.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { LoopYieldTimer } from '../../std/loop-yield-timer.js';
import { findStored } from '../find-stored.js';
import { followNames } from '../follow.js';
import { defineReconciler, idle, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import type { WorkQueue } from '../work-queue.js';
import { decide, failedStatus, podFacts, type PodFacts, type Verdict } from './decide.js';
import { scalesIn } from './scales.js';

/** Computes the status of PodDisruptionBudgets, by which evictions are granted or refused. */
export const disruptionReconciler = defineReconciler({
  name: 'disruption-controller',
  runs: 'by default',
  runsOn: 'leader',
  role: 'disruption-controller',
  yieldsToUpstream: true,
  start(dependencies) {
    const budgets = findStored(dependencies.registry, 'policy', 'v1', 'poddisruptionbudgets');
    return budgets ? new Disruption(dependencies, budgets) : idle;
  },
});

/** Collects changes of many Pods into one computation. */
const gatherMs = 100;
const sliceMs = 5;
const workersMax = 4;
/** Kinds whose scale may change while their Pods stay as they are. */
const scaled = [
  ['', 'replicationcontrollers'],
  ['apps', 'deployments'],
  ['apps', 'replicasets'],
  ['apps', 'statefulsets'],
] as const;

class Disruption implements RunningReconciler {
  private readonly queue: WorkQueue;
  private readonly pods: ServedResource;
  private readonly ends: (() => void)[];
  /** Names of budgets by namespace: events of other namespaces cost one look-up. */
  private readonly names = new Map<string, Set<string>>();
  private readonly facts = new WeakMap<EncodedObject, PodFacts>();

  constructor(
    private readonly dependencies: ReconcilerDependencies,
    private readonly budgets: ServedResource,
  ) {
    const { registry } = dependencies;
    this.pods = registry.require('', 'v1', 'pods');
    this.queue = dependencies.queue('disruption', (key, signal) => this.reconcile(key, signal), { workersMax });
    const sources = scaled.flatMap(([group, resource]) => findStored(registry, group, 'v1', resource) ?? []);
    this.ends = [
      followNames(budgets, (namespace, name) => this.note(namespace, name)),
      ...[this.pods, ...sources].map(({ store }) =>
        store.cache.observe({
          changed: (event: CacheEvent) => this.checkSoon((event.current ?? event.previous)!.attributes.namespace),
          reset: () => {
            for (const namespace of this.names.keys()) this.checkSoon(namespace);
          },
        }),
      ),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
  }

  private note(namespace: string, name: string): void {
    if (this.find(namespace, name)) {
      if (!this.names.has(namespace)) this.names.set(namespace, new Set());
      this.names.get(namespace)!.add(name);
      this.queue.add(`${namespace}/${name}`);
      return;
    }
    const names = this.names.get(namespace);
    if (names?.delete(name) && names.size === 0) this.names.delete(namespace);
  }

  private checkSoon(namespace: string): void {
    for (const name of this.names.get(namespace) ?? []) this.queue.addAfter(`${namespace}/${name}`, gatherMs);
  }

  private find(namespace: string, name: string): PodDisruptionBudget | undefined {
    const { store } = this.budgets;
    const found = store.cache.get(store.keyOf(namespace, name));
    return found && !found.corruption ? found.parse() : undefined;
  }

  private async reconcile(key: string, signal: AbortSignal): Promise<void | { againInMs: number }> {
    const [namespace = '', name = ''] = key.split('/');
    // Evictions that are granted from now on change the budget, so that what is computed here is not written.
    const budget = this.find(namespace, name);
    if (!budget) return;
    const { status, againInMs } = await this.verdictOn(budget, namespace);
    if (status) {
      const { uid, resourceVersion } = budget.metadata;
      const ref = { served: this.budgets, namespace, name };
      const preconditions = { uid, resourceVersion };
      const change = (current: PodDisruptionBudget) => ({ ...current, status });
      await this.dependencies.client.change(ref, change, { subresource: 'status', preconditions, signal });
    }
    return againInMs === undefined ? undefined : { againInMs };
  }

  private async verdictOn(budget: PodDisruptionBudget, namespace: string): Promise<Verdict> {
    const nowMs = this.dependencies.clock.now();
    const now = objectTime(nowMs);
    try {
      const pods = await this.podsOf(budget, namespace);
      return decide(budget, pods, { scaleOf: scalesIn(this.dependencies.registry, namespace), nowMs, now });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const { name } = budget.metadata;
      this.dependencies.logger.warn('cannot compute the status of a PodDisruptionBudget; it allows no evictions', {
        namespace,
        name,
        reason: message,
      });
      return { status: failedStatus(budget, message, now), againInMs: undefined };
    }
  }

  private async podsOf(budget: PodDisruptionBudget, namespace: string): Promise<PodFacts[]> {
    const selector = labelSelectorOf(budget.spec?.selector);
    const { store } = this.pods;
    const yieldTimer = new LoopYieldTimer(this.dependencies.clock, sliceMs);
    const matched: PodFacts[] = [];
    for (const entry of store.cache.snapshot().range(store.scopeOf(namespace))) {
      if (yieldTimer.isDue()) await yieldTimer.yield();
      if (!entry.corruption && selector.matches(entry.attributes.labels ?? {})) matched.push(this.factsOf(entry));
    }
    return matched;
  }

  private factsOf(pod: EncodedObject): PodFacts {
    let facts = this.facts.get(pod);
    if (!facts) this.facts.set(pod, (facts = podFacts(pod.parse())));
    return facts;
  }
}

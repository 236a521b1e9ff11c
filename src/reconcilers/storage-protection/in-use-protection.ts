import type { EncodedObject } from '../../cache/encoded-object.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { LoopYieldTimer } from '../../std/loop-yield-timer.js';
import { followNames } from '../follow.js';
import type { ReconcilerDependencies, RunningReconciler } from '../reconciler.js';
import type { WorkQueue } from '../work-queue.js';

/** Protection of the objects of one kind from deletion while they are in use. */
export interface Protection {
  readonly queueName: string;
  readonly finalizer: string;
  readonly target: ServedResource;
  /** True if the status of the object says that it is in use. */
  readonly isBusy?: (object: KubeObject) => boolean;
  /** Resources whose objects may use a protected one of their namespace, or a cluster-scoped one. */
  readonly users: readonly ServedResource[];
  /** Names of protected objects that a user may use. */
  readonly namesUsedBy: (user: KubeObject) => readonly string[];
  /** True if a user with the name of the object uses it. */
  readonly uses: (user: KubeObject, object: KubeObject) => boolean;
}

/** Collects changes of many users into one check. */
const gatherMs = 100;
const sliceMs = 5;
const workersMax = 4;

/**
 * Removes the protection finalizer of deleted objects when they are not in use. An event of a user costs one look-up while
 * no object waits.
 */
export class InUseProtection implements RunningReconciler {
  private readonly queue: WorkQueue;
  private readonly ends: (() => void)[];
  /** Names of deleted objects with the finalizer, by namespace. */
  private readonly waiting = new Map<string, Set<string>>();
  /** Cached by revision of the user, so that another check parses only changed users. */
  private readonly namesUsed = new WeakMap<EncodedObject, readonly string[]>();

  constructor(
    private readonly dependencies: ReconcilerDependencies,
    private readonly protection: Protection,
  ) {
    const { queueName, target, users } = protection;
    this.queue = dependencies.queue(queueName, (key, signal) => this.reconcile(key, signal), { workersMax });
    this.ends = [
      followNames(target, (namespace, name) => this.check(namespace, name)),
      ...users.map((served) =>
        served.store.cache.observe({
          changed: (event) => this.checkNamespace((event.current ?? event.previous)!.attributes.namespace),
          reset: () => this.checkAll(),
        }),
      ),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
  }

  private check(namespace: string, name: string): void {
    const lifetime = this.find(namespace, name)?.attributes.lifetime;
    if (lifetime?.isDeleting && lifetime.finalizers.includes(this.protection.finalizer)) {
      if (!this.waiting.has(namespace)) this.waiting.set(namespace, new Set());
      this.waiting.get(namespace)!.add(name);
      this.queue.add(`${namespace}/${name}`);
      return;
    }
    const names = this.waiting.get(namespace);
    if (names?.delete(name) && names.size === 0) this.waiting.delete(namespace);
  }

  private checkNamespace(namespace: string): void {
    if (this.waiting.size === 0) return;
    const scope = this.protection.target.definition.namespaced ? namespace : '';
    for (const name of this.waiting.get(scope) ?? []) this.queue.addAfter(`${scope}/${name}`, gatherMs);
  }

  private checkAll(): void {
    for (const [namespace, names] of this.waiting) {
      for (const name of names) this.queue.addAfter(`${namespace}/${name}`, gatherMs);
    }
  }

  private find(namespace: string, name: string) {
    const { store } = this.protection.target;
    const found = store.cache.get(store.keyOf(namespace, name));
    return found && !found.corruption ? found : undefined;
  }

  private async reconcile(key: string, signal: AbortSignal): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    const { target, finalizer, isBusy } = this.protection;
    const ref = { served: target, namespace, name };
    // The cache must have all users that were accepted before the deletion; later ones are refused.
    const { feed, limits } = target.store.dependencies;
    await feed.consistentRevision({ caller: { signal }, timeoutMs: limits.freshnessTimeoutMs });
    const found = this.find(namespace, name)?.parse();
    if (found?.metadata.deletionTimestamp === undefined || !found.metadata.finalizers?.includes(finalizer)) return;
    if (isBusy?.(found) || (await this.isUsed(found))) return;
    const { uid } = found.metadata;
    const change = (current: KubeObject): KubeObject => ({
      ...current,
      metadata: {
        ...current.metadata,
        finalizers: (current.metadata.finalizers ?? []).filter((other) => other !== finalizer),
      },
    });
    await this.dependencies.client.change(ref, change, { preconditions: { uid }, signal });
  }

  private async isUsed(object: KubeObject): Promise<boolean> {
    const { users, uses } = this.protection;
    const { name = '', namespace = '' } = object.metadata;
    const yieldTimer = new LoopYieldTimer(this.dependencies.clock, sliceMs);
    for (const { definition, store } of users) {
      const scope = store.scopeOf(definition.namespaced ? namespace : '');
      for (const entry of store.cache.snapshot().range(scope)) {
        if (yieldTimer.isDue()) await yieldTimer.yield();
        if (!entry.corruption && this.namesUsedBy(entry).includes(name) && uses(entry.parse(), object)) return true;
      }
    }
    return false;
  }

  private namesUsedBy(user: EncodedObject): readonly string[] {
    let names = this.namesUsed.get(user);
    if (!names) this.namesUsed.set(user, (names = this.protection.namesUsedBy(user.parse())));
    return names;
  }
}

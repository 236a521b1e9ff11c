import type { EncodedObject } from '../../cache/encoded-object.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { LoopYieldTimer } from '../../std/loop-yield-timer.js';
import { followNames } from '../follow.js';
import type { ReconcilerParts, RunningReconciler } from '../reconciler.js';
import type { WorkQueue } from '../work-queue.js';

/** One kind of objects that stay while others use them. */
export interface Protection {
  readonly queueName: string;
  readonly finalizer: string;
  readonly held: ServedResource;
  /** True if the object tells by itself that it is in use. */
  readonly isBusy?: (held: KubeObject) => boolean;
  /** Resources whose objects may use a held one; those of a namespace use only what is in it or in none. */
  readonly users: readonly ServedResource[];
  /** Names of held objects that a user may use. */
  readonly namesUsedBy: (user: KubeObject) => readonly string[];
  /** True if a user that has the name of the held object does use it. */
  readonly uses: (user: KubeObject, held: KubeObject) => boolean;
}

/** Users come and go in groups. */
const gatherMs = 100;
const sliceMs = 5;
const workersMax = 4;

/**
 * Takes the protection finalizer off objects that are being deleted, as soon as nothing uses them any more. Costs one
 * look-up for each event while nothing waits.
 */
export class InUseProtection implements RunningReconciler {
  private readonly queue: WorkQueue;
  private readonly ends: (() => void)[];
  /** Names of what waits, by namespace. */
  private readonly waiting = new Map<string, Set<string>>();
  /** Remembered by the states of users, so that looking again parses only those that changed. */
  private readonly namesUsed = new WeakMap<EncodedObject, readonly string[]>();

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly protection: Protection,
  ) {
    const { queueName, held, users } = protection;
    this.queue = parts.queue(queueName, (key, signal) => this.reconcile(key, signal), { workersMax });
    this.ends = [
      followNames(held, (namespace, name) => this.look(namespace, name)),
      ...users.map((served) =>
        served.store.cache.observe({
          changed: (event) => this.lookAgain((event.current ?? event.previous)!.attributes.namespace),
          reset: () => this.lookAtAll(),
        }),
      ),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
  }

  private look(namespace: string, name: string): void {
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

  private lookAgain(namespace: string): void {
    if (this.waiting.size === 0) return;
    const scope = this.protection.held.definition.namespaced ? namespace : '';
    for (const name of this.waiting.get(scope) ?? []) this.queue.addAfter(`${scope}/${name}`, gatherMs);
  }

  private lookAtAll(): void {
    for (const [namespace, names] of this.waiting) {
      for (const name of names) this.queue.addAfter(`${namespace}/${name}`, gatherMs);
    }
  }

  private find(namespace: string, name: string) {
    const { store } = this.protection.held;
    const found = store.cache.get(store.keyOf(namespace, name));
    return found && !found.corruption ? found : undefined;
  }

  private async reconcile(key: string, signal: AbortSignal): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    const { held, finalizer, isBusy } = this.protection;
    const place = { served: held, namespace, name };
    // What was let in before the deletion has to be seen: from now on nothing that uses the object is.
    const { feed, limits } = held.store.dependencies;
    await feed.consistentRevision({ signal, timeoutMs: limits.freshnessTimeoutMs });
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
    await this.parts.client.change(place, change, { preconditions: { uid }, signal });
  }

  private async isUsed(held: KubeObject): Promise<boolean> {
    const { users, uses } = this.protection;
    const { name = '', namespace = '' } = held.metadata;
    const yieldTimer = new LoopYieldTimer(this.parts.clock, sliceMs);
    for (const { definition, store } of users) {
      const scope = store.scopeOf(definition.namespaced ? namespace : '');
      for (const entry of store.cache.snapshot().range(scope)) {
        if (yieldTimer.isDue()) await yieldTimer.yield();
        if (!entry.corruption && this.namesUsedBy(entry).includes(name) && uses(entry.parse(), held)) return true;
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

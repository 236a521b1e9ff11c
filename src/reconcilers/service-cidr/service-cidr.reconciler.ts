import type { ServiceCIDR } from '../../catalog/types/networking.v1.js';
import { serviceCidrFinalizer } from '../../machinery/finalizers.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { ensureServiceCidr } from '../boot/service-cidr-object.js';
import { findStored } from '../find-stored.js';
import { followNames } from '../follow.js';
import { defineReconciler, idle, type ReconcilerDependencies, type RunningReconciler } from '../reconciler.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { conditionsAfter, stateOf } from './decide.js';

/** Time until the caches of other servers have the deletion of a range: as long as kube-controller-manager waits. */
const drainSharedMs = 10_000;
/** The same without other servers: the time of a request. */
const drainAloneMs = 100;
const gatherMs = 100;

/** Keeps the condition Ready of ServiceCIDRs, and removes their finalizer when no allocated address needs them. */
export const serviceCidrReconciler = defineReconciler({
  name: 'service-cidr-controller',
  runs: 'by default',
  runsOn: 'leader',
  role: 'service-cidrs-controller',
  yieldsToUpstream: true,
  start(dependencies) {
    const group = dependencies.config.naming.group('networking');
    const ranges = findStored(dependencies.registry, group, 'v1', 'servicecidrs');
    const addresses = findStored(dependencies.registry, group, 'v1', 'ipaddresses');
    return ranges && addresses ? new ServiceCidrs(dependencies, ranges, addresses) : idle;
  },
});

class ServiceCidrs implements RunningReconciler {
  private readonly queue;
  private readonly ends: (() => void)[];
  private readonly deleting = new Set<string>();

  constructor(
    private readonly dependencies: ReconcilerDependencies,
    private readonly ranges: ServedResource,
    private readonly addresses: ServedResource,
  ) {
    this.queue = dependencies.queue('service-cidr', (name, signal) => this.reconcile(name, signal));
    this.ends = [
      followNames(ranges, (_, name) => {
        const { store } = ranges;
        const isDeleting = store.cache.get(store.keyOf('', name))?.attributes.lifetime?.isDeleting ?? false;
        if (!isDeleting) this.deleting.delete(name);
        else if (!this.deleting.has(name)) {
          this.deleting.add(name);
          this.queue.addAfter(name, dependencies.sharesStore ? drainSharedMs : drainAloneMs);
          return;
        }
        this.queue.addAfter(name, isDeleting ? gatherMs : 0);
        this.checkDeleting();
      }),
      followNames(addresses, () => this.checkDeleting()),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
  }

  private checkDeleting(): void {
    for (const name of this.deleting) this.queue.addAfter(name, gatherMs);
  }

  private async reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { client, config, clock } = this.dependencies;
    const { naming } = config;
    const ref = { served: this.ranges, namespace: '', name };
    const current: ServiceCIDR | undefined = await client.live(ref, signal);
    if (!current) {
      // The initial one is created again, as at a start.
      if (name === naming.serviceName) await ensureServiceCidr(this.dependencies);
      return;
    }
    const finalizer = serviceCidrFinalizer(naming);
    const isHeld = current.metadata.finalizers?.includes(finalizer) ?? false;
    const isDeleting = current.metadata.deletionTimestamp !== undefined;
    if (isDeleting && !isHeld) return;
    if (isDeleting) {
      const { feed, limits } = this.ranges.store.dependencies;
      await feed.consistentRevision({ caller: { signal }, timeoutMs: limits.freshnessTimeoutMs });
    }
    const preconditions = { uid: current.metadata.uid };
    const state = stateOf(current, this.others(name), this.allocated());
    if (!isHeld || state === 'free') {
      const finalizers = (current.metadata.finalizers ?? []).filter((it) => it !== finalizer);
      if (state !== 'free') finalizers.push(finalizer);
      const change = (range: ServiceCIDR) => ({ ...range, metadata: { ...range.metadata, finalizers } });
      await client.change(ref, change, { preconditions, signal });
      if (state === 'free') return;
    }
    const now = objectTime(clock.now());
    const change = (range: ServiceCIDR) => {
      const conditions = conditionsAfter(range, state, naming, now);
      return { ...range, status: { ...range.status, conditions } };
    };
    await client.change(ref, change, { subresource: 'status', preconditions, signal });
  }

  private others(name: string): ServiceCIDR[] {
    const { store } = this.ranges;
    return [...store.cache.snapshot().range(store.scopeOf(''))]
      .filter((entry) => !entry.corruption && entry.attributes.name !== name)
      .map((entry) => entry.parse());
  }

  private *allocated(): Iterable<string> {
    const { store } = this.addresses;
    for (const { attributes } of store.cache.snapshot().range(store.scopeOf(''))) yield attributes.name;
  }
}

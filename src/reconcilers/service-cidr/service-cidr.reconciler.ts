import { asFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { ensureServiceCidr } from '../boot/service-cidr-object.js';
import { followNames } from '../follow.js';
import type { Reconciler, ReconcilerParts, RunningReconciler } from '../reconciler.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { conditionsAfter, finalizerOf, standingOf } from './decide.js';

/** Until the caches of other servers have seen that no more is to be taken from a range (the reference waits as long). */
const settleSharedMs = 10_000;
/** On this server, for the time of a request. */
const settleAloneMs = 100;
const gatherMs = 100;

/** Ranges that users add are made ready for services, and go when nothing is taken from them any more. */
export const serviceCidrReconciler: Reconciler = {
  name: 'service-cidr-controller',
  yieldsToUpstream: true,
  start(parts) {
    const group = parts.config.naming.group('networking');
    const ranges = parts.registry.find(group, 'v1', 'servicecidrs');
    const addresses = parts.registry.find(group, 'v1', 'ipaddresses');
    // --runtime-config may leave them out.
    if (ranges?.type !== 'stored' || addresses?.type !== 'stored') return { stop: async () => undefined };
    return new ServiceCidrs(parts, ranges, addresses);
  },
};

class ServiceCidrs implements RunningReconciler {
  private readonly queue;
  private readonly ends: (() => void)[];
  private readonly deleting = new Set<string>();

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly ranges: ServedResource,
    private readonly addresses: ServedResource,
  ) {
    this.queue = parts.queue('service-cidr', (name, signal) => this.reconcile(name, signal));
    this.ends = [
      followNames(ranges, (_, name) => {
        const { store } = ranges;
        const isDeleting = store.cache.get(store.keyOf('', name))?.attributes.lifetime?.isDeleting ?? false;
        if (!isDeleting) this.deleting.delete(name);
        else if (!this.deleting.has(name)) {
          this.deleting.add(name);
          this.queue.addAfter(name, parts.sharesStore ? settleSharedMs : settleAloneMs);
          return;
        }
        this.queue.addAfter(name, isDeleting ? gatherMs : 0);
        this.lookAtDeleting();
      }),
      followNames(addresses, () => this.lookAtDeleting()),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) end();
    await this.queue.stop();
  }

  private lookAtDeleting(): void {
    for (const name of this.deleting) this.queue.addAfter(name, gatherMs);
  }

  private async reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { client, config, clock } = this.parts;
    const { naming } = config;
    const place = { served: this.ranges, namespace: '', name };
    const current = await client.live(place, signal);
    if (!current) {
      // The first one comes back, as at a start.
      if (name === naming.serviceName) await ensureServiceCidr(this.parts);
      return;
    }
    const finalizer = finalizerOf(naming);
    const isHeld = current.metadata.finalizers?.includes(finalizer) ?? false;
    const isDeleting = current.metadata.deletionTimestamp !== undefined;
    if (isDeleting && !isHeld) return;
    if (isDeleting) {
      const { feed, limits } = this.ranges.store.dependencies;
      await feed.consistentRevision({ signal, timeoutMs: limits.freshnessTimeoutMs });
    }
    const preconditions = { uid: current.metadata.uid };
    const standing = standingOf(current, this.others(name), this.taken());
    if (!isHeld || standing === 'free') {
      const finalizers = (current.metadata.finalizers ?? []).filter((it) => it !== finalizer);
      if (standing !== 'free') finalizers.push(finalizer);
      const change = (it: KubeObject) => ({ ...it, metadata: { ...it.metadata, finalizers } });
      await client.change(place, change, { preconditions, signal });
      if (standing === 'free') return;
    }
    const now = objectTime(clock.now());
    const change = (it: KubeObject) => {
      const conditions = conditionsAfter(it, standing, naming, now);
      return { ...it, status: { ...asFields(it['status']), conditions } };
    };
    await client.change(place, change, { subresource: 'status', preconditions, signal });
  }

  private others(name: string): KubeObject[] {
    const { store } = this.ranges;
    return [...store.cache.snapshot().range(store.scopeOf(''))]
      .filter((entry) => !entry.corruption && entry.attributes.name !== name)
      .map((entry) => entry.parse());
  }

  private *taken(): Iterable<string> {
    const { store } = this.addresses;
    for (const { attributes } of store.cache.snapshot().range(store.scopeOf(''))) yield attributes.name;
  }
}

import type { ServedResource } from '../registry/resource-registry.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { recordOf } from './election/lease-record.js';

/** A kube-controller-manager on the same store. */
export interface Upstream {
  /** True while it renews its leader election Lease. */
  isActive(): boolean;
}

export const noUpstream: Upstream = { isActive: () => false };

interface Dependencies {
  readonly leases: ServedResource;
  readonly namespace: string;
  /** `kube-controller-manager` */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Watches the leader election Lease of kube-controller-manager. As in leader election, clocks of others are not trusted: a
 * Lease is fresh for its duration after this server saw it change. Only the Lease that exists at the start is judged by
 * its renewTime, so that an outdated one of a former cluster is ignored.
 */
export class UpstreamPresence implements Upstream {
  private freshUntilMs = -Infinity;
  private readonly end: () => void;

  constructor(private readonly dependencies: Dependencies) {
    const { leases, namespace, name, clock } = dependencies;
    const { cache } = leases.store;
    const key = leases.store.keyOf(namespace, name);
    this.end = cache.observe({
      changed: ({ current, previous }) => {
        if ((current ?? previous)!.key !== key) return;
        const { holderIdentity, leaseDurationSeconds } = recordOf(
          current && !current.corruption ? current.parse() : none,
        );
        this.note(holderIdentity === '' ? 0 : leaseDurationSeconds * 1000);
      },
      reset: () => {
        const found = cache.get(key);
        if (!found || found.corruption) return;
        const { holderIdentity, leaseDurationSeconds, renewTime } = recordOf(found.parse());
        const leftMs = Date.parse(renewTime) + leaseDurationSeconds * 1000 - clock.now();
        if (holderIdentity !== '' && leftMs > 0) this.note(Math.min(leftMs, leaseDurationSeconds * 1000));
      },
    });
  }

  isActive(): boolean {
    return this.dependencies.clock.monotonicMs() < this.freshUntilMs;
  }

  stop(): void {
    this.end();
  }

  private note(freshMs: number): void {
    const wasActive = this.isActive();
    this.freshUntilMs = freshMs > 0 ? this.dependencies.clock.monotonicMs() + freshMs : -Infinity;
    if (wasActive || freshMs <= 0) return;
    this.dependencies.logger.info('kube-controller-manager renews its Lease; reconcilers that it has too wait for it', {
      lease: `${this.dependencies.namespace}/${this.dependencies.name}`,
    });
  }
}

const none = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: {} };

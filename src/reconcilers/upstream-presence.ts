import type { ServedResource } from '../registry/resource-registry.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { recordOf } from './election/lease-record.js';

/** Tells whether a kube-controller-manager is at work on the same objects. */
export interface Upstream {
  isActive(): boolean;
}

export const noUpstream: Upstream = { isActive: () => false };

interface Parts {
  readonly leases: ServedResource;
  readonly namespace: string;
  /** `kube-controller-manager` */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * A controller manager is at work while it renews its leader Lease. As in leader election, clocks of others are not
 * believed: a Lease is fresh for its duration since this server saw it change. Only a Lease that was there before is
 * judged by its own time, so that one which a cluster left behind keeps nobody waiting.
 */
export class UpstreamPresence implements Upstream {
  private freshUntilMs = -Infinity;
  private readonly end: () => void;

  constructor(private readonly parts: Parts) {
    const { leases, namespace, name, clock } = parts;
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
    return this.parts.clock.monotonicMs() < this.freshUntilMs;
  }

  stop(): void {
    this.end();
  }

  private note(freshMs: number): void {
    const wasActive = this.isActive();
    this.freshUntilMs = freshMs > 0 ? this.parts.clock.monotonicMs() + freshMs : -Infinity;
    if (wasActive || freshMs <= 0) return;
    this.parts.logger.info('kube-controller-manager renews its Lease; reconcilers that it has too wait for it', {
      lease: `${this.parts.namespace}/${this.parts.name}`,
    });
  }
}

const none = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: {} };

import type { UserInfo } from '../machinery/user-info.js';
import type { Clock } from '../std/clock.js';
import { AuditEvent, type EventFields } from './audit-event.js';
import { decide, type AuditAttributes, type AuditDecision, type AuditPolicy } from './audit-policy.js';
import type { AuditObserver, AuditSink } from './audit-sink.js';
import { WallTime } from './wall-time.js';

interface Options {
  readonly policy: AuditPolicy;
  readonly sink: AuditSink;
  readonly observer: AuditObserver;
  readonly clock: Clock;
  /** Time for events that wait when the server stops. */
  readonly closeTimeoutMs: number;
  /** `apiserver.latency.k8s.io/`, prefix of annotations. */
  readonly latencyPrefix: string;
}

/** Decides by the policy which requests are recorded, and passes their events to the sinks. */
export class Auditor {
  readonly time: WallTime;
  /** Requests whose clients have disconnected before their outcome is known. */
  readonly undecided = new Set<{ ended(): void }>();

  constructor(private readonly options: Options) {
    this.time = new WallTime(options.clock);
  }

  get nowMs(): number {
    return this.options.clock.monotonicMs();
  }

  get latencyPrefix(): string {
    return this.options.latencyPrefix;
  }

  /** `user` is undefined if authentication failed. */
  decide(attributes: AuditAttributes, user: UserInfo | undefined): AuditDecision {
    const decision = decide(this.options.policy, attributes, user);
    this.options.observer.decided(decision.level);
    return decision;
  }

  /** Returns true if the request has not to wait; the promise resolves with false if the event was lost. */
  record(fields: EventFields): true | Promise<boolean> {
    this.options.observer.recorded();
    return this.options.sink.process([new AuditEvent(fields)]);
  }

  /** Counts a request that is refused because its event was lost. */
  rejected(): void {
    this.options.observer.rejected();
  }

  /** Resolves when all events are written. Events that are not in time are lost. */
  async close(): Promise<void> {
    const { sink, clock, closeTimeoutMs } = this.options;
    for (const request of this.undecided) request.ended();
    const timer = clock.after(closeTimeoutMs, () => sink.abandon());
    await sink.close();
    timer.cancel();
  }
}

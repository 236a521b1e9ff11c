import { shownAuditId } from '../machinery/audit-id.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { AuditEvent } from './audit-event.js';
import type { AuditLevel } from './audit-policy.js';

/** Takes events: a log, a webhook, or a step before one of them. */
export interface AuditSink {
  /**
   * Returns true if the caller has not to wait. The promise resolves with false if an event was lost, which is then counted
   * and logged; it never rejects.
   */
  process(events: readonly AuditEvent[]): true | Promise<boolean>;
  /** Resolves when all events that were taken are written or lost. Later ones are lost. */
  close(): Promise<void>;
  /** Gives up events that wait for an attempt. */
  abandon(): void;
}

/** Step at which events were lost, as in the metrics of kube-apiserver. */
export type LossSource = 'buffered' | 'log' | 'truncate' | 'webhook';

/** Counts events, for metrics. */
export interface AuditObserver {
  /** The policy has decided about a request. */
  decided(level: AuditLevel): void;
  /** An event was created. */
  recorded(): void;
  lost(source: LossSource, events: number): void;
  /** A request was refused, because it could not be recorded. */
  rejected(): void;
}

/** One line tells of all losses of a source in this time: a full disk fails every event. */
const intervalMs = 10_000;

interface Losses {
  events: number;
  nextLogMs: number;
}

/** Counts lost events, and logs them at most once in ten seconds. Their content is not logged. */
export class LossLog {
  private readonly losses = new Map<LossSource, Losses>();

  constructor(private readonly options: { clock: Clock; logger: Logger; observer: AuditObserver }) {}

  report(source: LossSource, reason: string, events: readonly Pick<AuditEvent, 'auditId'>[]): void {
    const { clock, logger, observer } = this.options;
    observer.lost(source, events.length);
    let losses = this.losses.get(source);
    if (!losses) this.losses.set(source, (losses = { events: 0, nextLogMs: -Infinity }));
    losses.events += events.length;
    const nowMs = clock.monotonicMs();
    if (nowMs < losses.nextLogMs) return;
    losses.nextLogMs = nowMs + intervalMs;
    logger.error('audit events were lost', {
      sink: source,
      reason,
      events: losses.events,
      auditId: events[0] && shownAuditId(events[0].auditId),
    });
    losses.events = 0;
  }
}

/** Sends events to several sinks. */
export class AllSinks implements AuditSink {
  constructor(private readonly sinks: readonly AuditSink[]) {}

  process(events: readonly AuditEvent[]): true | Promise<boolean> {
    const waits: Promise<boolean>[] = [];
    for (const sink of this.sinks) {
      const result = sink.process(events);
      if (result !== true) waits.push(result);
    }
    if (waits.length <= 1) return waits[0] ?? true;
    return Promise.all(waits).then((results) => results.every((result) => result));
  }

  async close(): Promise<void> {
    await Promise.all(this.sinks.map((sink) => sink.close()));
  }

  abandon(): void {
    for (const sink of this.sinks) sink.abandon();
  }
}

/** The mode `blocking`: requests wait until their events are written, and are served if they cannot be. */
export class TolerantSink implements AuditSink {
  constructor(private readonly next: AuditSink) {}

  process(events: readonly AuditEvent[]): true | Promise<boolean> {
    const result = this.next.process(events);
    return result === true ? true : result.then(() => true);
  }

  close(): Promise<void> {
    return this.next.close();
  }

  abandon(): void {
    this.next.abandon();
  }
}

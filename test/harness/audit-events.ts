import { AuditEvent, type EventFields } from '../../src/audit/audit-event.js';
import { LossLog, type AuditSink } from '../../src/audit/audit-sink.js';
import { AuditMetrics } from '../../src/metrics/audit-metrics.js';
import { anonymousUser } from '../../src/machinery/user-info.js';
import type { Clock } from '../../src/std/clock.js';

export function eventOf(changes: Partial<EventFields> = {}): AuditEvent {
  return new AuditEvent({
    level: 'Metadata',
    auditId: 'id',
    stage: 'ResponseComplete',
    requestUri: '/api/v1/pods',
    verb: 'list',
    user: anonymousUser,
    impersonatedUser: undefined,
    impersonationConstraint: '',
    sourceIps: ['127.0.0.1'],
    userAgent: 'test',
    objectRef: undefined,
    responseStatus: { code: 200 },
    requestObject: undefined,
    responseObject: undefined,
    receivedMicros: 1_767_225_600_000_000,
    stageMicros: 1_767_225_600_001_500,
    annotations: new Map(),
    ...changes,
  });
}

export const eventsOf = (...ids: string[]): AuditEvent[] => ids.map((auditId) => eventOf({ auditId }));

/** Counts lost events, and keeps the lines that are logged about them. */
export function lossesFor(clock: Clock) {
  const metrics = new AuditMetrics();
  const logged: Record<string, unknown>[] = [];
  const log = (message: string, fields?: Record<string, unknown>) => void logged.push({ message, ...fields });
  const losses = new LossLog({ clock, logger: { debug: log, info: log, warn: log, error: log }, observer: metrics });
  const counts = () =>
    Object.fromEntries(
      metrics
        .families()
        .flatMap(({ name, samples }) =>
          [...samples()].map(({ labels, value }) => [
            [name.replace('apiserver_audit_', ''), ...Object.values(labels)].join(' '),
            value,
          ]),
        ),
    ) as Record<string, number>;
  return { losses, logged, counts };
}

/** A sink that keeps batches until the test says that they are written. */
export class HeldSink implements AuditSink {
  readonly batches: string[][] = [];
  private readonly ends: ((isWritten: boolean) => void)[] = [];
  isAbandoned = false;

  process(events: readonly AuditEvent[]): Promise<boolean> {
    this.batches.push(events.map(({ auditId }) => auditId));
    return new Promise((resolve) => this.ends.push(resolve));
  }

  async end(isWritten = true): Promise<void> {
    this.ends.shift()?.(isWritten);
    await new Promise((resolve) => setImmediate(resolve));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  abandon(): void {
    this.isAbandoned = true;
    for (const end of this.ends.splice(0)) end(false);
  }
}

import type { AuditEvent } from './audit-event.js';
import type { AuditSink, LossLog } from './audit-sink.js';

interface Options {
  readonly eventBytesMax: number;
  readonly losses: LossLog;
  /** `audit.k8s.io/truncated` */
  readonly annotation: string;
}

/** Removes the objects of events that are too large. Events that are too large without objects are lost. */
export class TruncatingSink implements AuditSink {
  constructor(
    private readonly next: AuditSink,
    private readonly options: Options,
  ) {}

  process(events: readonly AuditEvent[]): true | Promise<boolean> {
    const { eventBytesMax } = this.options;
    if (events.every(({ bytes }) => bytes <= eventBytesMax)) return this.next.process(events);
    const shortened = events.map((event) => this.shortened(event));
    const lost = shortened.filter(({ bytes }) => bytes > eventBytesMax);
    if (lost.length > 0) this.options.losses.report('truncate', 'event is too large even after truncating', lost);
    const kept = shortened.filter(({ bytes }) => bytes <= eventBytesMax);
    return kept.length === 0 ? true : this.next.process(kept);
  }

  close(): Promise<void> {
    return this.next.close();
  }

  abandon(): void {
    this.next.abandon();
  }

  private shortened(event: AuditEvent): AuditEvent {
    const { eventBytesMax, annotation } = this.options;
    const hasObjects = event.level === 'Request' || event.level === 'RequestResponse';
    return event.bytes > eventBytesMax && hasObjects ? event.truncated(annotation) : event;
  }
}

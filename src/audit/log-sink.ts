import type { AuditLogConfig } from '../config/audit-config.js';
import { reasonOf } from '../kubeconfig-client/client-error.js';
import type { AuditEvent } from './audit-event.js';
import type { AuditSink, LossLog } from './audit-sink.js';
import type { Appended, LogEntry } from './log-entries.js';

/** Receives the lines: a file, or standard output. */
interface LogTarget {
  append(entries: readonly LogEntry[]): Promise<Appended>;
  close(): Promise<void>;
  /** Ends writes that wait for a reader. */
  abandon(): void;
}

interface Options {
  readonly format: AuditLogConfig['format'];
  /** `audit.k8s.io/v1` */
  readonly apiVersion: string;
  readonly losses: LossLog;
}

const lineEnd = Buffer.from('\n');

/** Writes events as lines. */
export class LogSink implements AuditSink {
  private readonly head: Buffer;

  constructor(
    private readonly target: LogTarget,
    private readonly options: Options,
  ) {
    this.head = Buffer.from(`{"kind":"Event","apiVersion":"${options.apiVersion}",`);
  }

  async process(events: readonly AuditEvent[]): Promise<boolean> {
    const isLegacy = this.options.format === 'legacy';
    const entries = events.map((event) =>
      isLegacy ? [Buffer.from(event.legacyLine())] : [this.head, ...event.pieces, lineEnd],
    );
    const { written, error } = await this.target.append(entries);
    if (written === events.length) return true;
    this.options.losses.report('log', reasonOf(error), events.slice(written));
    return false;
  }

  close(): Promise<void> {
    return this.target.close();
  }

  abandon(): void {
    this.target.abandon();
  }
}

import type { AuditBatchConfig } from '../config/audit-config.js';
import type { Clock, Timer } from '../std/clock.js';
import type { AuditEvent } from './audit-event.js';
import type { AuditSink, LossLog } from './audit-sink.js';
import { TokenBucket } from './token-bucket.js';

interface Options {
  readonly batch: AuditBatchConfig;
  /** Bytes of events that wait or are being written. Further ones are lost. */
  readonly bytesMax: number;
  /** Batches that are written at the same time; the others wait. */
  readonly concurrentMax: number;
  /** Size at which a batch is split; Infinity: never. */
  readonly batchBytesMax: number;
  readonly clock: Clock;
  readonly losses: LossLog;
}

/** The mode `batch`: keeps events until a batch is complete or its time has passed, so that no request waits. */
export class BufferedSink implements AuditSink {
  private waiting: AuditEvent[] = [];
  private bytes = 0;
  private running = 0;
  private timer: Timer | undefined = undefined;
  private isScheduled = false;
  private isClosed = false;
  private readonly bucket: TokenBucket | undefined;
  private idle: (() => void) | undefined = undefined;

  constructor(
    private readonly next: AuditSink,
    private readonly options: Options,
  ) {
    const { batch, clock } = options;
    this.bucket = batch.isThrottled
      ? new TokenBucket({ perSecond: batch.batchesPerSecond, burst: batch.burst, clock })
      : undefined;
  }

  process(events: readonly AuditEvent[]): true {
    const { batch, bytesMax, losses } = this.options;
    for (const [index, event] of events.entries()) {
      const isFull = this.waiting.length >= batch.eventsWaitingMax || this.bytes + event.bytes > bytesMax;
      if (isFull || this.isClosed) {
        losses.report('buffered', this.isClosed ? 'the server stops' : 'the buffer is full', events.slice(index));
        break;
      }
      this.waiting.push(event);
      this.bytes += event.bytes;
    }
    this.schedule();
    return true;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.schedule();
    if (this.waiting.length > 0 || this.running > 0) await new Promise<void>((resolve) => (this.idle = resolve));
    await this.next.close();
  }

  abandon(): void {
    const left = this.waiting;
    this.waiting = [];
    if (left.length > 0) this.options.losses.report('buffered', 'the server stops', left);
    this.next.abandon();
    this.endIfIdle();
  }

  /** Writes complete batches in this turn of the event loop, others when their time has passed. */
  private schedule(): void {
    const { batch, clock } = this.options;
    const { length } = this.waiting;
    if (length === 0 || this.isScheduled) return;
    if (this.isClosed || length >= batch.eventsMax) {
      this.isScheduled = true;
      this.timer?.cancel();
      this.timer = undefined;
      setImmediate(() => this.write());
      return;
    }
    this.timer ??= clock.after(batch.waitMs, () => {
      this.timer = undefined;
      this.write();
    });
  }

  private write(): void {
    this.isScheduled = false;
    const { concurrentMax, clock } = this.options;
    while (this.waiting.length > 0 && this.running < concurrentMax) {
      // At shutdown, the time limit of the server replaces the throttle.
      const delayMs = this.isClosed ? 0 : (this.bucket?.take() ?? 0);
      if (delayMs > 0) {
        this.isScheduled = true;
        clock.after(delayMs, () => this.write());
        return;
      }
      this.send(this.takeBatch());
      if (!this.isClosed && this.waiting.length < this.options.batch.eventsMax) break;
    }
    if (this.running < concurrentMax) this.schedule();
  }

  /** Without a throttle all events that wait are one batch: their number per write has no meaning. */
  private takeBatch(): readonly AuditEvent[] {
    const { batch, batchBytesMax } = this.options;
    const eventsMax = this.bucket ? batch.eventsMax : Math.max(batch.eventsMax, this.waiting.length);
    let count = 0;
    let bytes = 0;
    while (count < Math.min(eventsMax, this.waiting.length)) {
      bytes += this.waiting[count]!.bytes;
      if (count > 0 && bytes > batchBytesMax) break;
      count++;
    }
    if (count < this.waiting.length) return this.waiting.splice(0, count);
    const all = this.waiting;
    this.waiting = [];
    return all;
  }

  private send(events: readonly AuditEvent[]): void {
    const result = this.next.process(events);
    if (result === true) return this.ended(events);
    this.running++;
    void result.then(() => {
      this.running--;
      this.ended(events);
      this.schedule();
    });
  }

  private ended(events: readonly AuditEvent[]): void {
    for (const event of events) this.bytes -= event.bytes;
    this.endIfIdle();
  }

  private endIfIdle(): void {
    if (this.waiting.length === 0 && this.running === 0) this.idle?.();
  }
}

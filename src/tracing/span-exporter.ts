import { GrpcError, grpcStatus, NotConnectedError } from '../grpc/grpc-error.js';
import { Http2Channel } from '../grpc/http2-channel.js';
import type { Clock, Timer } from '../std/clock.js';
import { sleep } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { sharedAbort } from '../std/shared-abort.js';
import { decodeExportResponse, encodeExport, exportPath } from './otlp-messages.js';
import type { SpanAttributes } from '../std/call-trace.js';
import type { Span } from './span.js';

interface ExporterOptions {
  /** URL of the collector, for Http2Channel. */
  readonly url: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface SpanCounts {
  exported: number;
  /** Not exported: the queue was full, the collector refused them, or was not reached in time. */
  dropped: number;
}

/** The defaults of OpenTelemetry's batch processor and OTLP exporter. */
const queueSpansMax = 2_048;
const batchSpansMax = 512;
const batchDelayMs = 5_000;
const callTimeoutMs = 10_000;
const retryDelayMs = 5_000;
const retryForMs = 60_000;
/** The answer has one number and one text. */
const answerBytesMax = 64 * 1024;
const scope = 'keelson';
const reasonLengthMax = 200;

/** The codes that OTLP lets a client send again. */
const retried: readonly number[] = [
  grpcStatus.cancelled,
  grpcStatus.deadlineExceeded,
  grpcStatus.aborted,
  grpcStatus.outOfRange,
  grpcStatus.unavailable,
  grpcStatus.dataLoss,
];

/**
 * Sends finished spans to a collector in batches, one at a time. Requests never wait for it: add() only appends to a queue,
 * and drops the span if the queue is full because the collector is slow or absent.
 */
export class SpanExporter {
  readonly counts: SpanCounts = { exported: 0, dropped: 0 };
  /** Attributes of the server. Read for each batch, since the address is known only when the server listens. */
  resource: () => SpanAttributes = () => ({ 'service.name': 'apiserver' });
  private readonly channel: Http2Channel;
  private readonly closing = sharedAbort();
  private queue: Span[] = [];
  private timer: Timer | undefined;
  private sending: Promise<void> | undefined;
  private isFailing = false;

  constructor(private readonly options: ExporterOptions) {
    const { url, clock } = options;
    this.channel = new Http2Channel({ url, clock, messageBytesMax: answerBytesMax });
  }

  add(span: Span): void {
    if (this.queue.length >= queueSpansMax || this.closing.signal.aborted) {
      this.counts.dropped++;
      return;
    }
    this.queue.push(span);
    if (this.queue.length >= batchSpansMax) this.send();
    else this.timer ??= this.options.clock.after(batchDelayMs, () => this.send());
  }

  /** Counts a span that was not recorded. */
  leaveOut(): void {
    this.counts.dropped++;
  }

  /** Sends the queue within `flushMs`, and drops the rest. */
  async close(flushMs: number): Promise<void> {
    const { clock, logger } = this.options;
    // Ends the wait for another attempt; each batch has one more.
    this.closing.abort(new Error('the server stops'));
    this.send();
    const timeUp = sharedAbort();
    const timer = clock.after(flushMs, () => timeUp.abort(new Error('time is up')));
    await Promise.race([this.sending, untilAborted(timeUp.signal)]);
    timer.cancel();
    this.timer?.cancel();
    this.counts.dropped += this.queue.length;
    this.queue = [];
    this.channel.close();
    await this.sending;
    const { exported, dropped } = this.counts;
    if (dropped > 0)
      logger.warn('spans were dropped: the collector was slow, or was not reached', { exported, dropped });
  }

  private send(): void {
    this.timer?.cancel();
    this.timer = undefined;
    this.sending ??= this.sendBatches().finally(() => {
      this.sending = undefined;
      if (this.queue.length > 0 && !this.closing.signal.aborted)
        this.timer ??= this.options.clock.after(batchDelayMs, () => this.send());
    });
  }

  private async sendBatches(): Promise<void> {
    while (this.queue.length > 0) await this.sendBatch(this.queue.splice(0, batchSpansMax));
  }

  private async sendBatch(batch: readonly Span[]): Promise<void> {
    const { clock } = this.options;
    const giveUpMs = clock.monotonicMs() + retryForMs;
    for (;;) {
      try {
        const rejected = await this.call(encodeExport(this.resource(), scope, batch));
        this.counts.exported += Math.max(0, batch.length - rejected);
        this.counts.dropped += Math.min(rejected, batch.length);
        this.succeeded();
        return;
      } catch (error) {
        this.failed(error);
        if (!isRetried(error) || this.closing.signal.aborted || clock.monotonicMs() + retryDelayMs > giveUpMs) {
          this.counts.dropped += batch.length;
          return;
        }
      }
      await sleep(clock, retryDelayMs, this.closing.signal).catch(() => undefined);
    }
  }

  private async call(frame: Buffer): Promise<number> {
    const { clock } = this.options;
    await this.channel.connect(callTimeoutMs);
    return this.channel.unary({
      path: exportPath,
      frame,
      decode: decodeExportResponse,
      deadlineMs: clock.now() + callTimeoutMs,
    });
  }

  /** Logs the first failure only. */
  private failed(error: unknown): void {
    if (this.isFailing) return;
    this.isFailing = true;
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, reasonLengthMax);
    this.options.logger.warn('spans cannot be exported; check the endpoint in --tracing-config-file', {
      collector: this.options.url,
      error: reason,
    });
  }

  private succeeded(): void {
    if (!this.isFailing) return;
    this.isFailing = false;
    this.options.logger.info('spans are exported again', { ...this.counts });
  }
}

const isRetried = (error: unknown): boolean =>
  error instanceof NotConnectedError || (error instanceof GrpcError && retried.includes(error.code));

function untilAborted(signal: { addEventListener(type: 'abort', run: () => void): void }): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', resolve));
}

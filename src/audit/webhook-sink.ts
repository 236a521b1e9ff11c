import { reasonOf } from '../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { sleep, type Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import { sharedAbort } from '../std/shared-abort.js';
import type { AuditEvent } from './audit-event.js';
import type { AuditSink, LossLog } from './audit-sink.js';

// As kube-apiserver: 5 attempts, with delays of the initial backoff, 1.5 times that, and so on.
const attemptsMax = 5;
const delayFactor = 1.5;
/** Fraction of a delay that is added at most, so that servers do not retry at the same time. */
const jitter = 0.2;
const jitterSteps = 1000;
const timeoutMs = 30_000;
/** The content of an answer has no meaning. */
const answerBytesMax = 1024 * 1024;

interface Options {
  readonly client: Pick<KubeconfigClient, 'request' | 'close'>;
  /** `audit.k8s.io/v1` */
  readonly apiVersion: string;
  readonly initialBackoffMs: number;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly losses: LossLog;
}

/** Posts events as an EventList, and repeats a post that failed for any reason. */
export class WebhookSink implements AuditSink {
  private readonly stop = sharedAbort();

  constructor(private readonly options: Options) {}

  async process(events: readonly AuditEvent[]): Promise<boolean> {
    const { initialBackoffMs, clock, rng, losses } = this.options;
    const body = this.listOf(events);
    let reason = '';
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      try {
        if (attempt > 1) {
          const delayMs = initialBackoffMs * delayFactor ** (attempt - 2);
          await sleep(clock, delayMs * (1 + (jitter * rng.below(jitterSteps)) / jitterSteps), this.stop.signal);
        }
        const { status } = await this.post(body);
        if (status >= 200 && status < 300) return true;
        reason = `the webhook answered with status ${status}`;
      } catch (error) {
        // While the server stops, the reason of the last attempt says more.
        if (!this.stop.signal.aborted || reason === '') reason = reasonOf(error);
      }
      if (this.stop.signal.aborted) break;
    }
    losses.report('webhook', reason, events);
    return false;
  }

  close(): Promise<void> {
    this.options.client.close();
    return Promise.resolve();
  }

  abandon(): void {
    this.stop.abort(new Error('the server stops'));
  }

  private post(body: Buffer) {
    return this.options.client.request({
      method: 'POST',
      path: '',
      query: { timeout: `${timeoutMs / 1000}s` },
      headers: { Accept: 'application/json, */*', 'Content-Type': 'application/json' },
      body,
      responseBytesMax: answerBytesMax,
      isRepeatable: true,
      timeoutMs,
      signal: this.stop.signal,
    });
  }

  private listOf(events: readonly AuditEvent[]): Buffer {
    const pieces: Buffer[] = [
      Buffer.from(`{"kind":"EventList","apiVersion":"${this.options.apiVersion}","metadata":{},"items":[`),
    ];
    for (const [index, event] of events.entries()) pieces.push(index === 0 ? open : nextOpen, ...event.pieces);
    pieces.push(end);
    return Buffer.concat(pieces);
  }
}

const open = Buffer.from('{');
const nextOpen = Buffer.from(',{');
const end = Buffer.from(']}');

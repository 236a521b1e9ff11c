import { decodeJson } from '../codec/json.js';
import { readLines } from '../kubeconfig-client/exchange.js';
import type { ClientRequest } from '../kubeconfig-client/http-client.js';
import type { OpenAnswer } from '../kubeconfig-client/http-client.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { isJsonObject, type JsonObject } from '../machinery/kube-object.js';
import type { Clock } from '../std/clock.js';
import type { CapturedValues } from './captured-values.js';
import { differencesOf } from './compare-contents.js';
import { contentBytesMax } from './recorded-content.js';
import { redact } from './redact.js';

interface Dependencies {
  readonly captured: CapturedValues;
  readonly ignored: readonly string[];
  readonly eventsMsMax: number;
  readonly clock: Clock;
  readonly tell: (line: number, differences: readonly string[]) => void;
}

/** Events of the recording that wait for the other server. */
const expectedMax = 1000;

interface ExpectedEvent {
  readonly line: number;
  readonly event: JsonObject;
}

/**
 * A watch of the recording on another server. Its events are compared in their order, but not with the times of other
 * requests: the server may send an event before or after the answer to the write.
 */
export class WatchReplay {
  private readonly expected: ExpectedEvent[] = [];
  private readonly abort = new AbortController();
  private answer: OpenAnswer | undefined;
  private events: AsyncGenerator<Buffer> | undefined;
  private comparing: Promise<void> = Promise.resolve();
  private compared = 0;
  /** Events that the recording has after the end of the watch. */
  private missing: { readonly line: number; count: number } | undefined;
  private hasEnded = false;

  constructor(private readonly dependencies: Dependencies) {}

  /** Returns the status of the answer. */
  async open(api: KubeconfigClient, request: ClientRequest): Promise<number> {
    this.answer = await api.open({ ...request, signal: this.abort.signal });
    const { message } = this.answer;
    if (message.statusCode === 200) this.events = readLines(message, contentBytesMax, 'watch');
    return message.statusCode ?? 0;
  }

  /** Compares the next event of the other server with this one, when it comes. Waits if too many are expected. */
  async expect(line: number, event: JsonObject): Promise<void> {
    if (!this.events) return;
    if (this.hasEnded) {
      this.miss(line, 1);
      return;
    }
    this.expected.push({ line, event });
    if (this.expected.length === 1) this.comparing = this.compareAll();
    if (this.expected.length > expectedMax) await this.settle();
  }

  get isClosed(): boolean {
    return this.abort.signal.aborted;
  }

  /** Closes the watch once its events are compared. */
  expectEnd(): void {
    this.comparing = this.comparing.then(() => this.close());
  }

  /** Waits for the expected events. Returns the number of those that came. */
  async finish(): Promise<number> {
    await this.settle();
    this.close();
    if (this.missing) {
      const { line, count } = this.missing;
      this.dependencies.tell(line, [`${count} ${count === 1 ? 'event' : 'events'} did not come`]);
    }
    return this.compared;
  }

  /** Waits for the expected events; closes the watch if they are late. */
  private async settle(): Promise<void> {
    const timer = this.dependencies.clock.after(this.dependencies.eventsMsMax, () => this.close());
    await this.comparing;
    timer.cancel();
  }

  private miss(line: number, count: number): void {
    this.missing ??= { line, count: 0 };
    this.missing.count += count;
  }

  close(): void {
    this.abort.abort();
    this.answer?.end();
  }

  /** Ends when all expected events have come, or the watch has ended. */
  private async compareAll(): Promise<void> {
    for (; this.expected[0]; this.expected.shift()) {
      // A connection that has ended, or was closed, gives no event.
      const actual = await this.next().catch(() => undefined);
      const { line, event } = this.expected[0];
      if (!actual) {
        this.hasEnded = true;
        this.miss(line, this.expected.length);
        this.expected.length = 0;
        return;
      }
      this.compared++;
      const { captured, ignored, tell } = this.dependencies;
      captured.capture(event, actual);
      tell(line, differencesOf(captured.translate(event), actual, ignored));
    }
  }

  private async next(): Promise<JsonObject | undefined> {
    for (;;) {
      const next = await this.events?.next();
      if (!next || next.done) return undefined;
      const line = next.value;
      if (line.length === 0) continue;
      const event = decodeJson(line);
      if (!isJsonObject(event) || event['type'] === 'BOOKMARK') continue;
      const { value } = redact(event, { isSecret: false });
      return isJsonObject(value) ? value : undefined;
    }
  }
}

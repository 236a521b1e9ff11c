import { encodeJson } from '../codec/json.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { ClientError } from '../kubeconfig-client/client-error.js';
import type { Clock } from '../std/clock.js';
import { CapturedValues } from './captured-values.js';
import { differencesOf } from './compare-contents.js';
import { readRecording } from './read-recording.js';
import { contentBytesMax, recordedContent } from './recorded-content.js';
import { RecordingError, type ExchangeLine, type RecordedAnswer } from './recording-lines.js';
import { WatchReplay } from './watch-replay.js';

interface ReplayOptions {
  /** JSON pointers whose differences do not count; `*` is any segment. */
  readonly ignored: readonly string[];
  /** Time that a server has for the events of watches, once all requests are sent. */
  readonly eventsMsMax: number;
  readonly clock: Clock;
  /** Gets each exchange that differs. */
  onDifference(difference: Difference): void;
}

/** An exchange or an event whose new answer is another one. */
export interface Difference {
  /** Number of the line in the recording. */
  readonly line: number;
  /** `POST /api/v1/namespaces` */
  readonly subject: string;
  readonly differences: readonly string[];
}

interface ReplayCounts {
  readonly requests: number;
  readonly events: number;
  readonly differing: number;
  /** Requests that cannot be sent again, by reason. */
  readonly skipped: ReadonlyMap<string, number>;
}

const answerMsMax = 600_000;
/** Each needs a connection. */
const watchesMax = 200;
const comparedHeaders = ['content-type', 'warning', 'allow'] as const;

/** Sends the requests of a recording, in its order, to another server and compares the answers. */
export async function replay(path: string, api: KubeconfigClient, options: ReplayOptions): Promise<ReplayCounts> {
  const run = new Replay(api, options);
  try {
    for await (const { number, line } of readRecording(path)) {
      if (!('watch' in line)) await run.exchange(number, line);
      else if ('event' in line) await run.watch(line.watch)?.expect(number, line.event);
      else run.watch(line.watch)?.expectEnd();
    }
    await run.allEvents();
    return run.counts();
  } finally {
    run.close();
  }
}

class Replay {
  private readonly captured = new CapturedValues();
  private readonly watches = new Map<number, WatchReplay>();
  private readonly skipped = new Map<string, number>();
  private requests = 0;
  private events = 0;
  private differing = 0;

  constructor(
    private readonly api: KubeconfigClient,
    private readonly options: ReplayOptions,
  ) {}

  async exchange(line: number, { id, request, answer, isWatch }: ExchangeLine): Promise<void> {
    if (request.unrepeatable !== undefined) {
      this.skipped.set(request.unrepeatable, (this.skipped.get(request.unrepeatable) ?? 0) + 1);
      return;
    }
    this.requests++;
    const subject = `${request.method} ${request.path}`;
    const { method, headers, json, text } = request;
    // JSON is valid YAML too.
    const body = json === undefined ? text : encodeJson(this.captured.translate(json));
    const target = {
      method,
      path: this.captured.translatePath(request.path),
      headers,
      timeoutMs: answerMsMax,
      ...(body !== undefined && { body }),
    };
    if (isWatch) {
      if (this.watches.has(id)) throw new RecordingError(`line ${line}: the id ${id} is used twice`);
      const open = [...this.watches.values()].filter((watch) => !watch.isClosed).length;
      if (open >= watchesMax) throw new RecordingError(`line ${line}: more than ${watchesMax} watches at once`);
      const { eventsMsMax, ignored, clock } = this.options;
      const tell = (at: number, differences: readonly string[]) => this.tell(at, subject, differences);
      const watch = new WatchReplay({ captured: this.captured, ignored, eventsMsMax, clock, tell });
      this.watches.set(id, watch);
      const status = await watch.open(this.api, target);
      if (status !== answer.status) this.tell(line, subject, [`status: ${answer.status}, now ${status}`]);
      return;
    }
    try {
      const actual = await this.api.request({ ...target, responseBytesMax: contentBytesMax });
      this.tell(line, subject, this.compare(request.path, answer, actual));
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      if (error.code !== 'TooLarge') throw error;
      if (answer.omitted === undefined) this.tell(line, subject, [`body: now more than ${contentBytesMax} bytes`]);
    }
  }

  watch(id: number): WatchReplay | undefined {
    return this.watches.get(id);
  }

  async allEvents(): Promise<void> {
    const ends = [...this.watches.values()].map((watch) => watch.finish());
    for (const count of await Promise.all(ends)) this.events += count;
  }

  counts(): ReplayCounts {
    return { requests: this.requests, events: this.events, differing: this.differing, skipped: this.skipped };
  }

  close(): void {
    for (const watch of this.watches.values()) watch.close();
  }

  private compare(
    path: string,
    recorded: RecordedAnswer,
    actual: Awaited<ReturnType<KubeconfigClient['request']>>,
  ): string[] {
    const found: string[] = [];
    if (recorded.status !== actual.status) found.push(`status: ${recorded.status}, now ${actual.status}`);
    for (const name of comparedHeaders) {
      const [was, now] = [recorded.headers[name], actual.headers[name]].map((value) => mediaType(name, value));
      if (was !== now) found.push(`header ${name}: ${was ?? 'none'}, now ${now ?? 'none'}`);
    }
    if (recorded.omitted !== undefined) return found;
    const contentType = String(actual.headers['content-type'] ?? '');
    const { content } = recordedContent(actual.body, { contentType, path });
    this.captured.capture(recorded.json, content.json);
    const was = recorded.json ?? recorded.text;
    const expected = was === undefined ? undefined : this.captured.translate(was);
    const now = content.json ?? content.text ?? content.omitted;
    return [...found, ...differencesOf(expected, now, this.options.ignored)];
  }

  private tell(line: number, subject: string, differences: readonly string[]): void {
    if (differences.length === 0) return;
    this.differing++;
    this.options.onDifference({ line, subject, differences });
  }
}

function mediaType(name: string, value: string | string[] | undefined): string | undefined {
  const text = value === undefined ? undefined : String(value);
  return name === 'content-type' ? text?.replace(/;.*$/s, '') : text;
}

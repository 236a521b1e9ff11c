import { setTimeout as sleep } from 'node:timers/promises';
import type { FanOutJob, Figures, FromGenerator, LoadJob, ToGenerator } from './generator-jobs.js';
import { Http1Connection, type Target } from './http1-connection.js';
import { Http2Reads } from './http2-reads.js';
import { RequestTemplate } from './requests.js';

/** The process that generates the load, so that its CPU time is not the server's. Driven by load-generator.ts. */
const report = (message: FromGenerator) => process.send!(message);

/** A load that is measured in slices, between which nothing is sent. */
interface Run {
  /** Opens the connections, and lets both sides compile their code. */
  open(): Promise<void>;
  slice(): Promise<Figures>;
}

function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

const warmUpRequestsMin = 5000;
const warmUpTimesMax = 6;

class LoadRun implements Run {
  private readonly template: RequestTemplate;
  private lanes: readonly Lane[] = [];
  private counter: number;
  private stopAtMs = 0;
  private requestsLeft = 0;
  private count = 0;
  private failed = 0;
  private times: number[] = [];

  constructor(private readonly job: LoadJob) {
    this.template = new RequestTemplate(job.request);
    this.counter = job.from;
  }

  async open(): Promise<void> {
    const { connections, http2Sessions, target, request } = this.job;
    const reads = http2Sessions ? await Http2Reads.open(target, request, http2Sessions) : undefined;
    this.lanes = reads
      ? Array.from({ length: connections }, () => this.streamLane(reads))
      : await Promise.all(Array.from({ length: connections }, () => this.openLane()));
    if (this.job.warmUpMs > 0) await this.warmUp(this.job.warmUpMs);
  }

  async slice(): Promise<Figures> {
    [this.count, this.failed, this.times] = [0, 0, []];
    const startedMs = performance.now();
    await this.phase(this.job.seconds * 1000, this.job.requestsMax);
    const seconds = (performance.now() - startedMs) / 1000;
    const sorted = Float64Array.from(this.times).sort();
    const { count, failed, counter: next } = this;
    return { count, seconds, failed, next, p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
  }

  /** Lasts longer than asked for on a busy machine: code that is not yet compiled costs a multiple. */
  private async warmUp(ms: number): Promise<void> {
    const untilMs = performance.now() + ms * warmUpTimesMax;
    do await this.phase(ms, Infinity);
    while (this.count < warmUpRequestsMin && performance.now() < untilMs);
  }

  private async phase(ms: number, requestsMax: number): Promise<void> {
    this.stopAtMs = performance.now() + ms;
    this.requestsLeft = requestsMax;
    await Promise.all(this.lanes.map((lane) => lane.loop()));
  }

  private async openLane(): Promise<Lane> {
    let isClosed = false;
    const lane = this.lane(() => (isClosed ? fail() : connection.send(this.template.numbered(this.counter++))));
    const { end, finish } = lane;
    const fail = () => {
      this.failed++;
      finish();
    };
    const closed = () => {
      isClosed = true;
      fail();
    };
    const connection = await Http1Connection.open(this.job.target, { end, closed });
    return lane;
  }

  private streamLane(reads: Http2Reads): Lane {
    const lane = this.lane(() => reads.send(lane.end));
    return lane;
  }

  /** Sends the next request after the answer to the last one. */
  private lane(send: () => void) {
    let sentMs = 0;
    let finish: () => void = () => undefined;
    const next = () => {
      const nowMs = performance.now();
      if (nowMs >= this.stopAtMs || this.requestsLeft <= 0) return finish();
      this.requestsLeft--;
      sentMs = nowMs;
      send();
    };
    return {
      loop: () => new Promise<void>((resolve) => ((finish = resolve), next())),
      finish: () => finish(),
      end: (status: number) => {
        this.count++;
        if (status < 200 || status >= 300) this.failed++;
        this.times.push(performance.now() - sentMs);
        next();
      },
    };
  }
}

interface Lane {
  loop(): Promise<void>;
}

/** The end of a watch event: its closing brace and the line break. Line breaks inside an event are escaped. */
const frameEnd = Buffer.from('}\n');
const lateEventsWaitMs = 10_000;

class FanOutRun implements Run {
  private readonly received: Uint32Array;
  private readonly writers: readonly Writer[];
  /** Failures of the slices so far. */
  private counted = 0;
  /** The number of watchers that an event has reached, by its number; of the last one that has reached all. */
  private readonly reached = new Map<number, number>();
  private delivered = 0;
  private broken = 0;
  private wake: (() => void)[] = [];
  private sent = 0;
  /** When the latest write was sent, and the times from there to its events; only with a pace. */
  private sentMs = 0;
  private times: number[] = [];

  constructor(private readonly job: FanOutJob) {
    this.received = new Uint32Array(job.watchers);
    this.writers = job.writes.map((write) => new Writer(new RequestTemplate(write), 1));
  }

  async open(): Promise<void> {
    const { target, warmUpMs } = this.job;
    await this.openWatches();
    for (const writer of this.writers) await writer.open(target);
    await this.write(this.writers, performance.now() + warmUpMs);
  }

  async slice(): Promise<Figures> {
    const { seconds, watchers } = this.job;
    const before = this.sent;
    this.times = [];
    const startedMs = performance.now();
    await this.write(this.writers, startedMs + seconds * 1000);
    const spent = (performance.now() - startedMs) / 1000;
    // Events that arrive now are duplicates.
    await sleep(200);
    const wrong = this.received.reduce((sum, count) => sum + Math.abs(count - this.sent), 0);
    const failures = wrong + this.broken + this.writers.reduce((sum, { failed }) => sum + failed, 0);
    const failed = failures - this.counted;
    this.counted = failures;
    const sorted = Float64Array.from(this.times).sort();
    return {
      count: (this.sent - before) * watchers,
      seconds: spent,
      failed,
      next: 0,
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
    };
  }

  private async openWatches(): Promise<Http1Connection[]> {
    const request = new RequestTemplate(this.job.watch).numbered(0);
    const connections: Http1Connection[] = [];
    const open = async (index: number) => {
      let tail = 0;
      let answered: (status: number) => void = () => undefined;
      const begun = new Promise<number>((resolve) => (answered = resolve));
      const connection = await Http1Connection.open(this.job.target, {
        head: (status) => answered(status),
        body: (part) => {
          // Counts complete events only; `tail` finds one whose last two bytes are in different chunks.
          let frames = tail === 0x7d && part[0] === 0x0a ? 1 : 0;
          for (let at = part.indexOf(frameEnd); at >= 0; at = part.indexOf(frameEnd, at + 2)) frames++;
          tail = part[part.length - 1] ?? tail;
          if (frames === 0) return;
          for (let event = 0; event < frames; event++) this.reach(++this.received[index]!);
        },
        end: () => this.broken++,
        closed: () => this.broken++,
      });
      connection.send(request);
      const status = await begun;
      if (status !== 200) throw new Error(`a watch was answered with ${status}`);
      connections.push(connection);
    };
    let next = 0;
    await Promise.all(
      Array.from({ length: 32 }, async () => {
        while (next < this.job.watchers) await open(next++);
      }),
    );
    return connections;
  }

  /** Writes until the time is up, then waits for the last events. */
  private async write(writers: readonly Writer[], untilMs: number): Promise<void> {
    if (this.job.perSecond === undefined) await Promise.all(writers.map((writer) => this.writeAtOnce(writer, untilMs)));
    else await this.writePaced(writers[0]!, untilMs, 1000 / this.job.perSecond);
    await this.deliveredTo(this.sent);
  }

  private async writeAtOnce(writer: Writer, untilMs: number): Promise<void> {
    while (performance.now() < untilMs) {
      const number = ++this.sent;
      await this.deliveredTo(number - this.job.writes.length);
      await writer.next();
    }
  }

  private async writePaced(writer: Writer, untilMs: number, intervalMs: number): Promise<void> {
    for (let nextMs = performance.now(); nextMs < untilMs; nextMs += intervalMs) {
      await sleep(Math.max(0, nextMs - performance.now()));
      this.sent++;
      this.sentMs = performance.now();
      await writer.next();
      await this.deliveredTo(this.sent);
    }
  }

  private reach(event: number): void {
    if (this.job.perSecond !== undefined) this.times.push(performance.now() - this.sentMs);
    const watchers = (this.reached.get(event) ?? 0) + 1;
    this.reached.set(event, watchers);
    if (watchers < this.job.watchers) return;
    this.reached.delete(event);
    this.delivered = event;
    for (const wake of this.wake.splice(0)) wake();
  }

  /** Resolves when as many events have reached all watchers. */
  private async deliveredTo(events: number): Promise<void> {
    if (this.delivered >= events) return;
    const late = sleep(lateEventsWaitMs, 'late' as const, { ref: false });
    while (this.delivered < events) {
      const woken = new Promise<'event'>((resolve) => this.wake.push(() => resolve('event')));
      if ((await Promise.race([woken, late])) === 'late') return;
    }
  }
}

class Writer {
  failed = 0;
  private isClosed = false;
  private connection: Http1Connection | undefined;
  private answered: () => void = () => undefined;

  constructor(
    private readonly template: RequestTemplate,
    private counter: number,
  ) {}

  async open(target: Target): Promise<void> {
    this.connection = await Http1Connection.open(target, {
      end: (status) => {
        if (status !== 200) this.failed++;
        this.answered();
      },
      closed: () => {
        this.isClosed = true;
        this.answered();
      },
    });
  }

  async next(): Promise<void> {
    if (this.isClosed) throw new Error('the server closed the connection of a writer');
    const answer = new Promise<void>((resolve) => (this.answered = resolve));
    this.connection!.send(this.template.numbered(this.counter++));
    await answer;
  }

  close(): void {
    this.connection?.close();
  }
}

let run: Run | undefined;

process.on('message', (message: ToGenerator) => {
  const failed = (error: unknown) => report({ type: 'error', message: String(error) });
  if (message.type === 'go') {
    run!.slice().then((figures) => report({ type: 'done', figures }), failed);
    return;
  }
  run = message.type === 'load' ? new LoadRun(message) : new FanOutRun(message);
  run.open().then(() => report({ type: 'warm' }), failed);
});

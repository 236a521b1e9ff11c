import { readdirSync } from 'node:fs';
import { cpuSeconds, ownMiB, residentMiB } from '../lib/process-figures.js';
import type { Server } from '../lib/servers.js';
import type { SoakClient } from './soak-client.js';

/** Figures of one minute. Heap and memory are the least of several samples, since both grow between collections. */
export interface Minute {
  readonly minute: number;
  readonly residentMiB: number;
  /** Without the mapped data file of the embedded store. */
  readonly ownMiB: number;
  readonly heapMiB: number;
  readonly descriptors: number;
  readonly readP99Ms: number;
  readonly writeP99Ms: number;
  readonly requests: number;
  readonly events: number;
  readonly cpuPercent: number;
}

const sampleMs = 5_000;
/** Caches, histories and the heap have their size after this time. */
const warmUpMinutesMax = 10;

/** Samples a server and its clients, and returns the figures of each minute. */
export class SoakFigures {
  readonly minutes: Minute[] = [];
  private samples: { residentMiB: number; ownMiB: number; heapMiB: number; descriptors: number }[] = [];
  private before: { cpuSeconds: number; requests: number; events: number };
  private readonly timers: NodeJS.Timeout[];

  constructor(
    private readonly server: Server,
    private readonly client: SoakClient,
    private readonly minuteMs: number,
    private readonly tell: (minute: Minute) => void,
  ) {
    this.before = this.counters();
    this.timers = [
      setInterval(() => void this.sample().catch(() => undefined), Math.min(sampleMs, minuteMs / 4)),
      setInterval(() => this.endMinute(), minuteMs),
    ];
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer);
  }

  private counters() {
    const { requests, events } = this.client;
    return { cpuSeconds: cpuSeconds(this.server.pid), requests, events };
  }

  private async sample(): Promise<void> {
    const { text } = await this.server.call('GET', '/metrics');
    const heap = /^nodejs_heap_size_used_bytes (\S+)$/m.exec(text)?.[1];
    this.samples.push({
      residentMiB: residentMiB(this.server.pid),
      ownMiB: ownMiB(this.server.pid),
      heapMiB: Number(heap) / 2 ** 20,
      descriptors: readdirSync(`/proc/${this.server.pid}/fd`).length,
    });
  }

  private endMinute(): void {
    if (this.samples.length === 0) return;
    const { samples, before } = this;
    this.samples = [];
    const least = (of: keyof (typeof samples)[number]) => Math.min(...samples.map((sample) => sample[of]));
    const after = (this.before = this.counters());
    const { readMs, writeMs } = this.client.takeDurations();
    const minute = {
      minute: this.minutes.length + 1,
      residentMiB: least('residentMiB'),
      ownMiB: least('ownMiB'),
      heapMiB: least('heapMiB'),
      descriptors: least('descriptors'),
      readP99Ms: percentile(readMs, 0.99),
      writeP99Ms: percentile(writeMs, 0.99),
      requests: after.requests - before.requests,
      events: after.events - before.events,
      cpuPercent: ((after.cpuSeconds - before.cpuSeconds) / (this.minuteMs / 1_000)) * 100,
    };
    this.minutes.push(minute);
    this.tell(minute);
  }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Growth of a figure after the first sixth or the first 10 minutes, by the line of least squares. */
export function growthOf(minutes: readonly Minute[], figure: keyof Minute): { perHour: number; share: number } {
  const begin = Math.max(Math.ceil(minutes.length / 6), Math.min(warmUpMinutesMax, Math.floor(minutes.length / 2)));
  const settled = minutes.slice(begin);
  const count = settled.length;
  if (count < 2) return { perHour: 0, share: 0 };
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / count;
  const [meanX, meanY] = [mean(settled.map(({ minute }) => minute)), mean(settled.map((one) => one[figure]))];
  const covariance = mean(settled.map((one) => (one.minute - meanX) * (one[figure] - meanY)));
  const slope = covariance / mean(settled.map(({ minute }) => (minute - meanX) ** 2));
  return { perHour: slope * 60, share: (slope * (count - 1)) / meanY };
}

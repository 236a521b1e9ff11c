import { Session, type HeapProfiler, type Profiler } from 'node:inspector/promises';
import { encodePprof, type ProfiledFunction, type ProfiledStack } from '../codec/pprof.js';
import { ApiError } from '../machinery/api-error.js';
import { sleep, type Clock } from '../std/clock.js';
import type { Cancellation } from '../std/cancellation.js';

const heapIntervalBytes = 512 * 1024;
const nanosPerMicro = 1000;

/**
 * Profiles of this process from V8's profilers, in the format of `go tool pprof`. Only one is taken at a time, since
 * two would measure each other.
 */
export class Profiles {
  private isBusy = false;

  constructor(private readonly clock: Clock) {}

  /** Takes a CPU profile of `seconds`. */
  cpu(seconds: number, signal: Cancellation): Promise<Buffer> {
    return this.alone(async (session) => {
      await session.post('Profiler.enable');
      await session.post('Profiler.start');
      const timeMs = this.clock.now();
      await sleep(this.clock, seconds * 1000, signal).catch(() => undefined);
      const { profile } = await session.post('Profiler.stop');
      return encodePprof({
        sampleTypes: [
          ['samples', 'count'],
          ['cpu', 'nanoseconds'],
        ],
        stacks: cpuStacks(profile),
        ...{ timeMs, durationMs: this.clock.now() - timeMs },
      });
    });
  }

  /** Takes a profile of memory that is allocated during `seconds` and still in use at their end. */
  heap(seconds: number, signal: Cancellation): Promise<Buffer> {
    return this.alone(async (session) => {
      await session.post('HeapProfiler.enable');
      await session.post('HeapProfiler.startSampling', { samplingInterval: heapIntervalBytes });
      const timeMs = this.clock.now();
      await sleep(this.clock, seconds * 1000, signal).catch(() => undefined);
      const { profile } = await session.post('HeapProfiler.stopSampling');
      return encodePprof({
        sampleTypes: [['inuse_space', 'bytes']],
        stacks: heapStacks(profile.head),
        ...{ timeMs, durationMs: this.clock.now() - timeMs },
      });
    });
  }

  private async alone(make: (session: Session) => Promise<Buffer>): Promise<Buffer> {
    if (this.isBusy) throw ApiError.tooManyRequests('another profile is being taken', 1);
    this.isBusy = true;
    const session = new Session();
    try {
      session.connect();
      return await make(session);
    } finally {
      session.disconnect();
      this.isBusy = false;
    }
  }
}

type CallFrame = Profiler.ProfileNode['callFrame'];

const functionOf = ({ functionName, url, lineNumber }: CallFrame): ProfiledFunction => ({
  name: functionName || '(anonymous)',
  file: url,
  line: lineNumber + 1,
});

function cpuStacks({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): ProfiledStack[] {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const measured = new Map<number, { count: number; nanos: number }>();
  samples.forEach((id, at) => {
    const sum = measured.get(id) ?? { count: 0, nanos: 0 };
    sum.count++;
    sum.nanos += Math.max(0, timeDeltas[at] ?? 0) * nanosPerMicro;
    measured.set(id, sum);
  });
  return Array.from(measured, ([leaf, { count, nanos }]) => {
    const frames: ProfiledFunction[] = [];
    for (let id: number | undefined = leaf; id !== undefined; id = parents.get(id)) {
      frames.push(functionOf(byId.get(id)!.callFrame));
    }
    return { frames, values: [count, nanos] };
  });
}

function heapStacks(head: HeapProfiler.SamplingHeapProfileNode): ProfiledStack[] {
  const stacks: ProfiledStack[] = [];
  const visit = (node: HeapProfiler.SamplingHeapProfileNode, outer: readonly ProfiledFunction[]) => {
    const frames = [functionOf(node.callFrame), ...outer];
    if (node.selfSize > 0) stacks.push({ frames, values: [node.selfSize] });
    for (const child of node.children) visit(child, frames);
  };
  visit(head, []);
  return stacks;
}

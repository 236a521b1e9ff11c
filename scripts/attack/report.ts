import type { HostileAnswer, HostileRequest } from './attack.js';
import { heldMs, type Hold } from './probe.js';

export interface AttackRow {
  readonly family: string;
  readonly request: string;
  readonly code: number;
  readonly hold: Hold;
  readonly tookMs: number;
  /** Functions with the most CPU time, if profiled. */
  readonly hot?: readonly string[];
}

interface Memory {
  readonly residentMiB: number;
  readonly heapMiB: number;
}

const worstMax = 20;
const heapGrowthMiBMax = 150;
/** Limit on the growth of resident memory, which Node returns late. */
const residentGrowthMiBMax = 500;

/** Result of a run. */
export class Report {
  readonly worst: AttackRow[] = [];
  /** Requests that held the event loop for too long. */
  readonly slow: AttackRow[] = [];
  /** Requests that held the event loop for too long once, and not when they were repeated. */
  readonly once: AttackRow[] = [];
  readonly worstOf = new Map<string, AttackRow>();
  readonly requestsOf = new Map<string, number>();
  readonly codes = new Map<number, number>();
  readonly memory: Memory[] = [];
  /** Failures of a run: 5xx answers, polluted prototypes, a server that ended. */
  readonly problems: string[] = [];
  /** Error lines of the server's log. */
  readonly complaints: string[] = [];

  constructor(
    readonly seed: number,
    private readonly holdMsMax: number,
  ) {}

  /** True if no hold was too long and there were no failures. */
  get isGood(): boolean {
    return (
      this.slow.length === 0 &&
      this.problems.length === 0 &&
      this.complaints.length === 0 &&
      this.memoryProblem === undefined
    );
  }

  /** Detects unbounded growth by comparing the last third of the run with the one before. */
  get memoryProblem(): string | undefined {
    const [, , before, end] = this.memoryAtThirds;
    if (!before || !end) return undefined;
    const heap = end.heapMiB - before.heapMiB;
    const resident = end.residentMiB - before.residentMiB;
    if (heap < heapGrowthMiBMax && resident < residentGrowthMiBMax) return undefined;
    return `the last third of the run added ${heap.toFixed(0)} MiB of heap, ${resident.toFixed(0)} MiB resident`;
  }

  /** Memory at the start, at one and two thirds, and at the end. */
  get memoryAtThirds(): readonly Memory[] {
    const last = this.memory.length - 1;
    return last < 0 ? [] : [0, 1 / 3, 2 / 3, 1].map((part) => this.memory[Math.round(last * part)]!);
  }

  add(row: AttackRow): void {
    this.requestsOf.set(row.family, (this.requestsOf.get(row.family) ?? 0) + 1);
    const worst = this.worstOf.get(row.family);
    if (!worst || heldMs(row.hold) > heldMs(worst.hold)) this.worstOf.set(row.family, row);
    if (heldMs(row.hold) > this.holdMsMax) this.slow.push(row);
    this.worst.push(row);
    this.worst.sort((a, b) => heldMs(b.hold) - heldMs(a.hold));
    this.worst.splice(worstMax);
  }

  /** Records undocumented answers. */
  judge({ about, mayFailWith = [], failureText = '', problemOf }: HostileRequest, answer: HostileAnswer): void {
    const { code, bytes } = answer;
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    if (problemOf) {
      const problem = problemOf(answer);
      if (problem !== undefined)
        this.problems.push(`${problem} after ${about}: ${code} ${bytes.toString('utf8').slice(0, 300)}`);
      return;
    }
    if (code < 500 || (mayFailWith.includes(code) && bytes.includes(failureText))) return;
    this.problems.push(`${code} after ${about}: ${bytes.toString('utf8').slice(0, 300)}`);
  }
}

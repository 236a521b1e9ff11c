import { SeededRng } from '../../src/std/rng.js';
import type { Family, HostileAnswer, HostileRequest } from './attack.js';
import { AttackSession } from './attack-session.js';
import { heldMs, type Hold } from './probe.js';
import { scaleBodies } from './requests.js';
import { Report, type AttackRow } from './report.js';
import type { AttackedStore } from './server-under-attack.js';

/** The limit: no request may hold the event loop for longer. */
export const holdMsMax = 150;
/** Size of the bodies of a short run: large enough to show non-linear cost, small enough for a busy machine. */
const shortPart = 0.3;
const measureEveryMs = 10_000;
/** A longer hold counts without repetition: it may be work whose result is cached. */
export const onceMsMax = 200;
/** Repetitions of a request that held the event loop for too long. */
const attemptsMax = 3;
/** Answer to a request that was skipped. */
const unsent: HostileAnswer = { code: 0, bytes: Buffer.alloc(0) };

interface RunOptions {
  readonly families: readonly Family[];
  readonly seed: number;
  readonly isShort: boolean;
  /** Passes are repeated for this time; one pass if 0. */
  readonly minutes: number;
  readonly store: AttackedStore;
  /** Sends only requests whose description contains this text. */
  readonly match?: string;
  /** Takes a CPU profile of each request, and shows it for those that held for too long. */
  readonly isProfiled?: boolean;
  /** Shows requests with shorter holds without a profile. */
  readonly showOverMs?: number;
  readonly onRow?: (row: AttackRow) => void;
}

/** Attacks a server of its own, one request at a time, and reports the longest hold of each family. */
export async function runAttack(options: RunOptions): Promise<Report> {
  const report = new Report(options.seed, holdMsMax);
  scaleBodies(options.isShort ? shortPart : 1);
  const attacker = new Attacker(report, options, await AttackSession.start(options.store));
  try {
    await attacker.run();
  } finally {
    await attacker.end();
  }
  return report;
}

class Attacker {
  private measuredAt = 0;

  constructor(
    private readonly report: Report,
    private readonly options: RunOptions,
    private session: AttackSession,
  ) {}

  async run(): Promise<void> {
    const { families, minutes } = this.options;
    const endsAt = performance.now() + minutes * 60_000;
    for (let round = 0; round === 0 || performance.now() < endsAt; round++) {
      for (const family of families) await this.attack(family, round, minutes > 0 ? endsAt : Infinity);
    }
    if (this.report.codes.size === 0) this.report.problems.push(`no request matches "${this.options.match ?? ''}"`);
    await this.measure();
    const ready = await this.session.requester.send({ about: 'ready', method: 'GET', path: '/readyz' });
    if (ready.code !== 200) this.report.problems.push(`/readyz answers ${ready.code} after the attack`);
  }

  async end(): Promise<void> {
    const { server } = this.session;
    this.report.complaints.push(...server.complaints);
    if (server.exit !== undefined) this.report.problems.push(`the server ended with ${server.exit}`);
    await this.session.stop();
  }

  private async attack(family: Family, round: number, endsAt: number): Promise<void> {
    const { seed, isShort } = this.options;
    const { webhook } = this.session;
    const requests = family.requests({ rng: new SeededRng(seed + round * 7919), isShort, round, webhook });
    let next = requests.next();
    while (!next.done && performance.now() < endsAt) {
      if (performance.now() - this.measuredAt > measureEveryMs) await this.measure();
      next = requests.next(await this.send(family.name, next.value));
    }
  }

  private async send(family: string, requests: HostileRequest | readonly HostileRequest[]): Promise<HostileAnswer> {
    const { isProfiled = false, match = '', onRow, showOverMs = holdMsMax } = this.options;
    const all = [requests].flat();
    const request = describe(all[0]!, all.length);
    if (!request.includes(match)) return unsent;
    const { answers, hold: first, hot, tookMs } = await this.session.measured(all, isProfiled);
    const answer = answers.at(-1)!;
    const isUnclear = heldMs(first) > holdMsMax && heldMs(first) <= onceMsMax;
    const hold = isUnclear ? await this.holdAgain(all, first, answer.code) : first;
    const row: AttackRow = {
      ...{ family, request, code: answer.code, hold, tookMs },
      ...(heldMs(hold) > showOverMs && { hot }),
    };
    if (hold !== first && heldMs(hold) <= holdMsMax) this.report.once.push({ ...row, hold: first });
    this.report.add(row);
    all.forEach((one, at) => this.report.judge(one, answers[at]!));
    onRow?.(row);
    if (answer.code === -1 || this.session.server.exit !== undefined) await this.startAgain(row);
    return answer;
  }

  /**
   * Repeats a request that held the event loop for too long, and returns the shortest hold: garbage collections come and
   * go. An answer with another code, for example since the object exists now, does not count.
   */
  private async holdAgain(requests: readonly HostileRequest[], first: Hold, code: number): Promise<Hold> {
    let shortest = first;
    for (let attempt = 0; attempt < attemptsMax && heldMs(shortest) > holdMsMax; attempt++) {
      if (this.session.server.exit !== undefined) break;
      const { answers, hold } = await this.session.measured(requests, false);
      requests.forEach((one, at) => this.report.judge(one, answers[at]!));
      if (answers.at(-1)!.code !== code) break;
      if (heldMs(hold) < heldMs(shortest)) shortest = hold;
    }
    return shortest;
  }

  /** Continues with a new server. */
  private async startAgain({ request }: AttackRow): Promise<void> {
    this.report.problems.push(`the server was stopped by ${request}`);
    await this.end();
    this.session = await AttackSession.start(this.options.store);
  }

  private async measure(): Promise<void> {
    this.measuredAt = performance.now();
    const { residentMiB, heapMiB, polluted } = await this.session.server.observe('measure');
    this.report.memory.push({ residentMiB, heapMiB });
    if (polluted.length > 0) this.report.problems.push(`prototypes were polluted with ${polluted.join()}`);
  }
}

function describe({ about, method, path, body }: HostileRequest, count: number): string {
  const size = body ? `, ${body.length} bytes` : '';
  const times = count > 1 ? `${count} × ` : '';
  return `${times}${method} ${path.length > 120 ? `${path.slice(0, 120)}… (${path.length})` : path}: ${about}${size}`;
}

import type { Family } from '../../scripts/attack/attack.js';
import { describeReport } from '../../scripts/attack/describe-report.js';
import { families } from '../../scripts/attack/families.js';
import { heldMs } from '../../scripts/attack/probe.js';
import type { AttackRow, Report } from '../../scripts/attack/report.js';
import { holdMsMax, runAttack } from '../../scripts/attack/run.js';

/** The short run of `npm run attack`: a fixed selection of requests of each family, at a third of the limits. */
const seed = 1;
const attack = (which: readonly Family[]) =>
  runAttack({ families: which, seed, isShort: true, minutes: 0, store: 'memory' });

/** Descriptions of requests that held the event loop for too long, with the shorter of both measurements. */
const holdsOf = (rows: readonly AttackRow[]) =>
  new Map(rows.map(({ request, hold }) => [request, heldMs(hold)] as const));

test('a run in which no request matches has a problem', async () => {
  const match = 'no request has this text';
  const which = families.filter(({ name }) => name === 'headers');
  const report = await runAttack({ families: which, seed, isShort: true, minutes: 0, store: 'memory', match });
  expect([report.isGood, report.problems]).toEqual([false, [`no request matches "${match}"`]]);
});

describe('the costliest requests', () => {
  let report: Report;
  const slow = new Map<string, number>();

  beforeAll(async () => {
    report = await attack(families);
    process.stderr.write(`${describeReport(report)}\n`);
    // A hold counts if it is repeated: garbage collections come and go.
    const first = report.slow;
    const names = new Set(first.map(({ family }) => family));
    if (names.size === 0) return;
    const again = holdsOf((await attack(families.filter(({ name }) => names.has(name)))).slow);
    for (const [request, ms] of holdsOf(first)) {
      const second = again.get(request);
      if (second !== undefined) slow.set(request, Math.round(Math.min(ms, second)));
    }
  }, 900_000);

  it.each(families.map(({ name }) => name))('of family %s are sent', (name) => {
    expect(report.requestsOf.get(name)).toBeGreaterThan(2);
  });

  it(`hold the event loop for at most ${holdMsMax} ms`, () => {
    expect(Object.fromEntries(slow)).toEqual({});
  });

  it('get no internal error, and leave the server ready and prototypes unchanged', () => {
    expect(report.problems).toEqual([]);
  });

  it('log no error', () => {
    expect(report.complaints).toEqual([]);
  });

  it('leak no memory', () => {
    expect(report.memoryProblem).toBeUndefined();
  });
});

import { heldMs } from './probe.js';
import type { AttackRow, Report } from './report.js';

const ms = (value: number) => (Number.isNaN(value) ? '-' : value.toFixed(0)).padStart(7);
const line = ({ hold, code, request }: AttackRow) =>
  `${ms(hold.wallMs)} ${ms(hold.cpuMs)} ${String(code).padStart(4)}  ${request}`;

/** The report on one screen: the worst request of each family, the worst of all, answers, memory and failures. */
export function describeReport(report: Report): string {
  const { worst, worstOf, once, requestsOf, codes, memory, problems, complaints, seed, memoryProblem } = report;
  const total = [...requestsOf.values()].reduce((sum, count) => sum + count, 0);
  return [
    `${total} requests, seed ${seed}`,
    '',
    `${'family'.padEnd(18)} ${'requests'.padStart(8)} ${'wall ms'} ${'CPU ms'.padStart(7)} code  longest hold`,
    ...[...worstOf].map(
      ([family, row]) => `${family.padEnd(18)} ${String(requestsOf.get(family)).padStart(8)} ${line(row)}`,
    ),
    '',
    `the ${worst.length} longest holds`,
    ...worst.map(line),
    '',
    ...(once.length === 0 ? [] : ['too long once, and not when repeated', ...once.slice(0, 20).map(line), '']),
    `answers: ${[...codes]
      .sort(([a], [b]) => a - b)
      .map(([code, count]) => `${count} × ${code === 0 ? 'connection closed' : code === -1 ? 'none in time' : code}`)
      .join(', ')}`,
    `memory after collection: ${report.memoryAtThirds.map((mib) => `${mib.residentMiB.toFixed(0)} MiB resident, ${mib.heapMiB.toFixed(0)} MiB heap`).join(' | ')} (${memory.length} measured)`,
    ...(memoryProblem === undefined ? [] : [`PROBLEM ${memoryProblem}`]),
    ...problems.slice(0, 20).map((problem) => `PROBLEM ${problem}`),
    ...complaints.slice(0, 20).map((complaint) => `LOGGED ${complaint}`),
    report.isGood ? 'no request held the event loop for too long' : 'FAILED',
  ].join('\n');
}

export function reportAsJson(report: Report): string {
  const { seed, worst, worstOf, once, requestsOf, codes, problems, complaints, isGood, memoryAtThirds } = report;
  const families = [...worstOf].map(([family, row]) => ({
    ...row,
    family,
    requests: requestsOf.get(family),
    heldMs: heldMs(row.hold),
  }));
  return JSON.stringify(
    {
      seed,
      isGood,
      families,
      worst,
      once,
      codes: Object.fromEntries(codes),
      memoryAtThirds,
      problems,
      complaints,
    },
    undefined,
    2,
  );
}

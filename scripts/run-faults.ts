import { asCommand, print } from './as-command.js';
import { runFaults } from './faults/fault-run.js';
import { namesOfWorkerTroubles, troublesOf } from './faults/troubles.js';
import { namesIn, numberIn, readOptions, wholeNumberIn } from './read-options.js';

export const help = `node dist/scripts/run-faults.js [options]

Runs three members of etcd with TLS and several built servers behind a balancer of TCP, with faults between and in all of
them, while clients write by compare-and-set, read, list and watch. Then checks that the answers are linearizable for each
object, that no acknowledged write and no event is lost, doubled or out of order, and that /readyz told of outages. Exits
with 1 if something was violated.

  --minutes N      repeats runs, each with the next seed, for this time; one run by default
  --seconds N      time of one run; 60 by default
  --seed N         seed of the first run; random and printed by default
  --servers N      number of servers; 2 by default
  --workers N      processes of each server; 1 by default
  --writers N      number of writers; 12 by default
  --only NAME,…    faults to choose from: ${Object.keys(troublesOf(1)).join(', ')};
                   with two or more workers also ${namesOfWorkerTroubles.join(', ')}
  --verbose        prints each fault when it begins
  --help           prints this help`;

interface FaultCall {
  readonly isVerbose: boolean;
  readonly minutes: number;
  readonly seconds: number;
  readonly seed: number;
  readonly servers: number;
  readonly workers: number;
  readonly writers: number;
  readonly only: readonly string[];
}

/** Throws a UsageError on unknown options and values. */
export function readFaultCall(words: readonly string[], randomSeed: () => number): FaultCall {
  const values = readOptions(words, {
    minutes: { type: 'string', default: '0' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    servers: { type: 'string', default: '2' },
    workers: { type: 'string', default: '1' },
    writers: { type: 'string', default: '12' },
    only: { type: 'string', default: '' },
    verbose: { type: 'boolean', default: false },
  });
  const workers = wholeNumberIn('workers', values.workers);
  return {
    workers,
    isVerbose: values.verbose,
    minutes: numberIn('minutes', values.minutes),
    seconds: numberIn('seconds', values.seconds),
    seed: values.seed === undefined ? randomSeed() : wholeNumberIn('seed', values.seed),
    servers: wholeNumberIn('servers', values.servers),
    writers: wholeNumberIn('writers', values.writers),
    only: namesIn('only', values.only, Object.keys(troublesOf(workers))),
  };
}

async function main(words: readonly string[]): Promise<number> {
  const call = readFaultCall(words, () => Math.floor(Math.random() * 2 ** 31));
  const begin = performance.now();
  const totals: Record<string, number> = {};
  let [runs, violations, slowestFailureMs, slowestRecoveryMs] = [0, 0, 0, 0];
  do {
    const seed = call.seed + runs++;
    const report = await runFaults({ ...call, seed, onTrouble: (name) => call.isVerbose && print(`  ${name}`) });
    slowestFailureMs = Math.max(slowestFailureMs, report.slowestFailureMs);
    slowestRecoveryMs = Math.max(slowestRecoveryMs, report.slowestRecoveryMs);
    violations += report.violations.length;
    for (const [what, value] of Object.entries(report.counts)) totals[what] = (totals[what] ?? 0) + value;
    print(`seed ${seed}: ${report.counts['acknowledged']} writes, ${report.violations.length} violations`);
    for (const violation of report.violations.slice(0, 10)) print(`  ${violation}`);
  } while (performance.now() - begin < call.minutes * 60_000);
  for (const [what, value] of Object.entries(totals).sort()) print(`${String(value).padStart(8)}  ${what}`);
  print(
    `/readyz told of an outage within ${Math.round(slowestFailureMs)} ms, of its end within ${Math.round(slowestRecoveryMs)} ms`,
  );
  print(`${runs} runs in ${((performance.now() - begin) / 60_000).toFixed(1)} minutes, ${violations} violations`);
  return violations > 0 ? 1 : 0;
}

// A connection that a fault has left behind must not keep the process alive.
asCommand(import.meta.url, { help, run: async (words) => process.exit(await main(words)), showsStack: true });

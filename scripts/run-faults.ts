import { asCommand, print } from './as-command.js';
import { runFaults } from './faults/fault-run.js';
import { troubles } from './faults/troubles.js';

export const help = `node dist/scripts/run-faults.js [options]

Runs three members of etcd with TLS and several built servers behind a balancer of TCP, with faults between and in all of
them, while clients write by compare-and-set, read, list and watch. Then checks that the answers are linearizable for each
object, that no acknowledged write and no event is lost, doubled or out of order, and that /readyz told of outages. Exits
with 1 if something was violated.

  --minutes N      repeats runs, each with the next seed, for this time; one run by default
  --seconds N      time of one run; 60 by default
  --seed N         seed of the first run; random and printed by default
  --servers N      number of servers; 2 by default
  --writers N      number of writers; 12 by default
  --only NAME,…    faults to choose from: ${Object.keys(troubles).join(', ')}
  --verbose        prints each fault when it begins
  --help           prints this help`;

interface FaultCall {
  readonly isHelp: boolean;
  readonly isVerbose: boolean;
  readonly minutes: number;
  readonly seconds: number;
  readonly seed: number;
  readonly servers: number;
  readonly writers: number;
  readonly only: readonly string[];
}

/** Throws on unknown options and values. */
export function readFaultCall(words: readonly string[], randomSeed: () => number): FaultCall {
  const options = new Map<string, string>();
  const args = words.flatMap((word) => {
    const match = /^(--\w+)=(.*)$/.exec(word);
    return match ? [match[1]!, match[2]!] : [word];
  });
  for (let at = 0; at < args.length; at++) {
    const flag = args[at]!;
    if (['--help', '--verbose'].includes(flag)) options.set(flag, '');
    else if (['--minutes', '--seconds', '--seed', '--servers', '--writers', '--only'].includes(flag))
      options.set(flag, args[++at] ?? '');
    else throw new Error(`unknown option ${flag}`);
  }
  const numberOf = (flag: string, otherwise: number) => {
    const text = options.get(flag);
    if (text === undefined) return otherwise;
    if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`${flag} takes a number, not "${text}"`);
    return Number(text);
  };
  const only = (options.get('--only') ?? '').split(',').filter((name) => name !== '');
  const unknown = only.find((name) => !(name in troubles));
  if (unknown) throw new Error(`--only takes no "${unknown}": use one of ${Object.keys(troubles).join(', ')}`);
  return {
    isHelp: options.has('--help'),
    isVerbose: options.has('--verbose'),
    minutes: numberOf('--minutes', 0),
    seconds: numberOf('--seconds', 60),
    seed: options.has('--seed') ? numberOf('--seed', 0) : randomSeed(),
    servers: numberOf('--servers', 2),
    writers: numberOf('--writers', 12),
    only,
  };
}

async function main(words: readonly string[]): Promise<number> {
  const call = readFaultCall(words, () => Math.floor(Math.random() * 2 ** 31));
  if (call.isHelp) {
    print(help);
    return 0;
  }
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
asCommand(
  import.meta.url,
  async (words) => process.exit(await main(words)),
  (error) => error.stack ?? error.message,
);

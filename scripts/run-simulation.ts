import { asCommand, print } from './as-command.js';
import { numberIn, readOptions, wholeNumberIn } from './read-options.js';
import { churn, describeChurn } from './simulation/churn.js';
import { describeReport, simulate } from './simulation/simulation.js';

const help = `npm run sim -- [options]
node dist/scripts/run-simulation.js [options]

Runs simulated clusters, each with its own seed, until the time is up or a guarantee is broken. Exits with 1 if one is broken.

  --seed N       seed of the first run; random and printed by default
  --seconds N    repeats runs, each with the next seed, for this time; 60 by default, with --seed one run
  --clients N    clients of a cluster; 10 by default
  --churn N      makes one long run of N writes instead, in real time
  --watchers N   watchers of that run; 200 by default
  --help         prints this help`;

interface SimulationCall {
  readonly seed: number;
  readonly secondsMax: number;
  readonly clients: number;
  /** Number of writes of a churn run; 0 runs the simulated cluster. */
  readonly churn: number;
  readonly watchers: number;
}

/** Throws a UsageError on unknown options and values. */
export function readSimulationCall(words: readonly string[], randomSeed: () => number): SimulationCall {
  const values = readOptions(words, {
    seed: { type: 'string' },
    seconds: { type: 'string' },
    clients: { type: 'string', default: '10' },
    churn: { type: 'string', default: '0' },
    watchers: { type: 'string', default: '200' },
  });
  const seconds = values.seconds ?? (values.seed === undefined ? '60' : '0');
  return {
    seed: values.seed === undefined ? randomSeed() : wholeNumberIn('seed', values.seed),
    secondsMax: numberIn('seconds', seconds),
    clients: wholeNumberIn('clients', values.clients),
    churn: wholeNumberIn('churn', values.churn),
    watchers: wholeNumberIn('watchers', values.watchers),
  };
}

async function main(words: readonly string[]): Promise<number> {
  const call = readSimulationCall(words, () => Math.floor(Math.random() * 2 ** 31));
  if (call.churn > 0) {
    const report = await churn({ seed: call.seed, events: call.churn, watchers: call.watchers });
    print(describeChurn(report));
    return report.violations.length > 0 ? 1 : 0;
  }
  const begin = performance.now();
  const secondsSince = () => (performance.now() - begin) / 1000;
  let runs = 0;
  do {
    const report = await simulate({ seed: call.seed + runs, clients: call.clients });
    runs++;
    print(describeReport(report));
    if (report.violations.length > 0) {
      print(`to repeat it: npm run sim -- --seed ${report.seed} --clients ${call.clients}`);
      return 1;
    }
  } while (secondsSince() < call.secondsMax);
  print(`${runs} runs in ${secondsSince().toFixed(1)} s, no guarantee was violated`);
  return 0;
}

asCommand(import.meta.url, { help, run: main, showsStack: true });

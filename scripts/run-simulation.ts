import { asCommand, print } from './as-command.js';
import { churn, describeChurn } from './simulation/churn.js';
import { describeReport, simulate } from './simulation/simulation.js';

/**
 * `npm run sim -- [--seed N] [--seconds S] [--clients N]`: runs of a simulated cluster, each with its own seed, until
 * the time is up or a guarantee is broken. A seed without a time repeats that run. `--churn EVENTS` and `--watchers N`
 * make one long run of many writes instead, in real time.
 */
interface SimulationCall {
  readonly seed: number;
  readonly secondsMax: number;
  readonly clients: number;
  /** Number of writes of a churn run; 0 runs the simulated cluster. */
  readonly churn: number;
  readonly watchers: number;
}

/** Throws on unknown options and values. */
export function readSimulationCall(words: readonly string[], randomSeed: () => number): SimulationCall {
  const options = new Map<string, number>();
  const args = words.flatMap((word) => {
    const match = /^(--\w+)=(.*)$/.exec(word);
    return match ? [match[1]!, match[2]!] : [word];
  });
  for (let at = 0; at < args.length; at += 2) {
    const [flag, text = ''] = args.slice(at, at + 2);
    if (!['--seed', '--seconds', '--clients', '--churn', '--watchers'].includes(flag!))
      throw new Error(`unknown option ${flag}`);
    const value = Number(text);
    if (!/^\d+$/.test(text) || value > 2 ** 31) throw new Error(`${flag} takes a number, not "${text}"`);
    options.set(flag!, value);
  }
  const seed = options.get('--seed');
  return {
    seed: seed ?? randomSeed(),
    secondsMax: options.get('--seconds') ?? (seed === undefined ? 60 : 0),
    clients: options.get('--clients') ?? 10,
    churn: options.get('--churn') ?? 0,
    watchers: options.get('--watchers') ?? 200,
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

asCommand(import.meta.url, main, (error) => error.stack ?? error.message);

import { asCommand, print } from './as-command.js';
import { churn, describeChurn } from './simulation/churn.js';
import { describeReport, simulate } from './simulation/simulation.js';

/**
 * `npm run sim -- [--seed N] [--seconds S] [--clients N]`: runs of a simulated cluster, each with its own seed, until the
 * time is up or a guarantee is broken. With a seed and no time just that run, to see it again. With `--churn EVENTS` and
 * `--watchers N` one long run of many writes instead, at the speed of the machine.
 */
export interface SimulationCall {
  readonly seed: number;
  readonly secondsMax: number;
  readonly clients: number;
  /** Writes of the long run; 0: the simulated cluster. */
  readonly churn: number;
  readonly watchers: number;
}

/** Throws on what it does not know. */
export function readSimulationCall(words: readonly string[], randomSeed: () => number): SimulationCall {
  const given = new Map<string, number>();
  const waiting = words.flatMap((word) => {
    const match = /^(--\w+)=(.*)$/.exec(word);
    return match ? [match[1]!, match[2]!] : [word];
  });
  for (let at = 0; at < waiting.length; at += 2) {
    const [flag, text = ''] = waiting.slice(at, at + 2);
    if (!['--seed', '--seconds', '--clients', '--churn', '--watchers'].includes(flag!))
      throw new Error(`unknown option ${flag}`);
    const value = Number(text);
    if (!/^\d+$/.test(text) || value > 2 ** 31) throw new Error(`${flag} takes a number, not "${text}"`);
    given.set(flag!, value);
  }
  const seed = given.get('--seed');
  return {
    seed: seed ?? randomSeed(),
    secondsMax: given.get('--seconds') ?? (seed === undefined ? 60 : 0),
    clients: given.get('--clients') ?? 10,
    churn: given.get('--churn') ?? 0,
    watchers: given.get('--watchers') ?? 200,
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
      print(`to see it again: npm run sim -- --seed ${report.seed} --clients ${call.clients}`);
      return 1;
    }
  } while (secondsSince() < call.secondsMax);
  print(`${runs} runs in ${secondsSince().toFixed(1)} s, no guarantee was broken`);
  return 0;
}

asCommand(import.meta.url, main, (error) => error.stack ?? error.message);

import { asCommand, print } from './as-command.js';
import { families } from './attack/families.js';
import { heldMs } from './attack/probe.js';
import { describeReport, reportAsJson } from './attack/describe-report.js';
import { holdMsMax, onceMsMax, runAttack } from './attack/run.js';
import type { AttackedStore } from './attack/server-under-attack.js';
import { nameIn, namesIn, numberIn, readOptions, wholeNumberIn } from './read-options.js';

/** Sends costly requests of up to 3 MiB to the built server. */
export const help = `npm run attack -- [options]
node dist/scripts/run-attack.js [options]

Sends costly requests of up to 3 MiB to the built server, and measures the longest time that each of them
holds its event loop, by the clock and in CPU time of its main thread; the smaller one counts. A request that
held it for ${holdMsMax} to ${onceMsMax} ms is repeated. Exits with 1 if one held it for more than ${holdMsMax} ms each
time, or once for more than ${onceMsMax} ms, was answered with a 5xx, changed a prototype, or made the server log an error
or exit.

  --only FAMILY,…      sends only these families: ${families.map(({ name }) => name).join(', ')}
  --minutes N          repeats passes for this time; one pass by default
  --match TEXT         sends only requests whose line in the report contains TEXT
  --seed N             seed of the random choices; the default is random and printed
  --store NAME         memory (the default) or embedded
  --show-over MS       prints each request that held the event loop for longer; the default is ${holdMsMax}
  --profile            prints with each of them the functions with the most CPU time in its longest turn
  --short              sends a selection of the requests at a third of their size, like
                       test/attack/worst-cases.spec.ts
  --json               prints the report as JSON
  --help               prints this help`;

const stores: readonly AttackedStore[] = ['memory', 'embedded'];

interface AttackCall {
  readonly seed: number;
  readonly minutes: number;
  readonly showOverMs: number;
  readonly only: readonly string[];
  readonly match: string;
  readonly store: AttackedStore;
  readonly isJson: boolean;
  readonly isProfiled: boolean;
  readonly isShort: boolean;
}

/** Throws a UsageError on unknown options and values. */
export function readAttackCall(words: readonly string[], randomSeed: () => number): AttackCall {
  const values = readOptions(words, {
    only: { type: 'string', default: '' },
    minutes: { type: 'string', default: '0' },
    match: { type: 'string', default: '' },
    seed: { type: 'string' },
    store: { type: 'string', default: 'memory' },
    'show-over': { type: 'string', default: String(holdMsMax) },
    profile: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  });
  const familyNames = families.map(({ name }) => name);
  return {
    showOverMs: numberIn('show-over', values['show-over']),
    seed: values.seed === undefined ? randomSeed() : wholeNumberIn('seed', values.seed),
    minutes: numberIn('minutes', values.minutes),
    only: namesIn('only', values.only, familyNames),
    match: values.match,
    store: nameIn('store', values.store, stores),
    isJson: values.json,
    isProfiled: values.profile,
    isShort: values.short,
  };
}

async function main(words: readonly string[]): Promise<number> {
  const call = readAttackCall(words, () => Math.floor(Math.random() * 2 ** 31));
  const { only, isJson, seed, showOverMs } = call;
  if (!isJson) print(`seed ${seed}`);
  const report = await runAttack({
    ...call,
    families: families.filter(({ name }) => only.length === 0 || only.includes(name)),
    onRow: ({ family, request, code, hold, hot }) => {
      if (isJson || heldMs(hold) <= showOverMs) return;
      const cpu = Number.isNaN(hold.cpuMs) ? '' : `, CPU ${hold.cpuMs.toFixed(0)} ms`;
      print(`HELD ${hold.wallMs.toFixed(0)} ms${cpu}: ${family}: ${request} -> ${code}`);
      hot?.forEach((line) => print(`    ${line}`));
    },
  });
  print(isJson ? reportAsJson(report) : describeReport(report));
  return report.isGood ? 0 : 1;
}

asCommand(import.meta.url, { help, run: main, showsStack: true });

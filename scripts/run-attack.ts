import { asCommand, print } from './as-command.js';
import { families } from './attack/families.js';
import { heldMs } from './attack/probe.js';
import { describeReport, reportAsJson } from './attack/describe-report.js';
import { holdMsMax, onceMsMax, runAttack } from './attack/run.js';
import type { AttackedStore } from './attack/server-under-attack.js';

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

interface AttackCall {
  readonly isHelp: boolean;
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

/** Throws on unknown options and values. */
export function readAttackCall(words: readonly string[], randomSeed: () => number): AttackCall {
  const options = new Map<string, string>();
  const args = words.flatMap((word) => {
    const match = /^(--[\w-]+)=(.*)$/.exec(word);
    return match ? [match[1]!, match[2]!] : [word];
  });
  for (let at = 0; at < args.length; at++) {
    const flag = args[at]!;
    if (['--json', '--profile', '--short', '--help'].includes(flag)) options.set(flag, '');
    else if (['--seed', '--minutes', '--only', '--match', '--store', '--show-over'].includes(flag))
      options.set(flag, args[++at] ?? '');
    else throw new Error(`unknown option ${flag}`);
  }
  const numberOf = (flag: string) => {
    const text = options.get(flag);
    if (text === undefined) return undefined;
    if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`${flag} takes a number, not "${text}"`);
    return Number(text);
  };
  const store = options.get('--store') ?? 'memory';
  if (store !== 'memory' && store !== 'embedded') throw new Error(`--store takes memory or embedded, not "${store}"`);
  const only = (options.get('--only') ?? '').split(',').filter((name) => name !== '');
  const unknown = only.find((name) => !families.some((family) => family.name === name));
  if (unknown)
    throw new Error(`--only takes no "${unknown}": use one of ${families.map(({ name }) => name).join(', ')}`);
  return {
    isHelp: options.has('--help'),
    showOverMs: numberOf('--show-over') ?? holdMsMax,
    seed: numberOf('--seed') ?? randomSeed(),
    minutes: numberOf('--minutes') ?? 0,
    only,
    match: options.get('--match') ?? '',
    store,
    isJson: options.has('--json'),
    isProfiled: options.has('--profile'),
    isShort: options.has('--short'),
  };
}

async function main(words: readonly string[]): Promise<number> {
  const call = readAttackCall(words, () => Math.floor(Math.random() * 2 ** 31));
  const { only, isJson, seed, showOverMs } = call;
  if (call.isHelp) {
    print(help);
    return 0;
  }
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

asCommand(import.meta.url, main, (error) => error.stack ?? error.message);

import { asCommand, print } from './as-command.js';
import { families } from './attack/families.js';
import { heldMs } from './attack/probe.js';
import { describeReport, reportAsJson } from './attack/describe-report.js';
import { holdMsMax, runAttack } from './attack/run.js';
import type { AttackedStore } from './attack/server-under-attack.js';

/**
 * `npm run attack -- [--minutes N] [--seed N] [--only family,family] [--store memory|embedded] [--json] [--profile]
 * [--short]`: requests of up to 3 MiB that are as costly as they can be made, against the built server. Without
 * `--minutes` one pass over everything; ends with 1 if any of them held the event loop for more than 150 ms.
 */
export interface AttackCall {
  readonly seed: number;
  readonly minutes: number;
  readonly only: readonly string[];
  readonly store: AttackedStore;
  readonly isJson: boolean;
  readonly isProfiled: boolean;
  readonly isShort: boolean;
}

/** Throws on unknown options and values. */
export function readAttackCall(words: readonly string[], randomSeed: () => number): AttackCall {
  const given = new Map<string, string>();
  const parts = words.flatMap((word) => {
    const match = /^(--\w+)=(.*)$/.exec(word);
    return match ? [match[1]!, match[2]!] : [word];
  });
  for (let at = 0; at < parts.length; at++) {
    const flag = parts[at]!;
    if (['--json', '--profile', '--short'].includes(flag)) given.set(flag, '');
    else if (['--seed', '--minutes', '--only', '--store'].includes(flag)) given.set(flag, parts[++at] ?? '');
    else throw new Error(`unknown option ${flag}`);
  }
  const numberOf = (flag: string) => {
    const text = given.get(flag);
    if (text === undefined) return undefined;
    if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`${flag} takes a number, not "${text}"`);
    return Number(text);
  };
  const store = given.get('--store') ?? 'memory';
  if (store !== 'memory' && store !== 'embedded') throw new Error(`--store takes memory or embedded, not "${store}"`);
  const only = (given.get('--only') ?? '').split(',').filter((name) => name !== '');
  const unknown = only.find((name) => !families.some((family) => family.name === name));
  if (unknown) throw new Error(`no family "${unknown}": there are ${families.map(({ name }) => name).join(', ')}`);
  return {
    seed: numberOf('--seed') ?? randomSeed(),
    minutes: numberOf('--minutes') ?? 0,
    only,
    store,
    isJson: given.has('--json'),
    isProfiled: given.has('--profile'),
    isShort: given.has('--short'),
  };
}

async function main(words: readonly string[]): Promise<number> {
  const call = readAttackCall(words, () => Math.floor(Math.random() * 2 ** 31));
  const { only, isJson, seed } = call;
  if (!isJson) print(`seed ${seed}`);
  const report = await runAttack({
    ...call,
    families: families.filter(({ name }) => only.length === 0 || only.includes(name)),
    onRow: ({ family, request, code, hold, hot }) => {
      if (isJson || heldMs(hold) <= holdMsMax) return;
      const cpu = Number.isNaN(hold.cpuMs) ? '' : `, CPU ${hold.cpuMs.toFixed(0)} ms`;
      print(`HELD ${hold.wallMs.toFixed(0)} ms${cpu}: ${family}: ${request} -> ${code}`);
      hot?.forEach((line) => print(`    ${line}`));
    },
  });
  print(isJson ? reportAsJson(report) : describeReport(report));
  return report.isGood ? 0 : 1;
}

asCommand(import.meta.url, main, (error) => error.stack ?? error.message);

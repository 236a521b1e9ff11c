import { Option } from 'commander';
import { ownYaml } from './config-files.js';
import type { Flag, FlagTopic } from './flag.js';
import { flagTopics } from './flags/all-flags.js';
import { readMapping } from './settings.js';

/** Returns all flags as commander options, grouped by topic, for the help only: settings.ts parses the flags. */
export function helpOptions(defaults: 'keelson' | 'kube-apiserver'): Option[] {
  const overlay = defaults === 'keelson' ? readMapping(ownYaml('default.yaml'), '').values : undefined;
  return optionsOf(flagTopics, (flag) => overlay?.get(flag.name)?.texts.join(',') ?? flag.default);
}

/** Returns the flags of any command as commander options. */
export function optionsOf(topics: readonly FlagTopic[], defaultOf = (flag: Flag) => flag.default): Option[] {
  return topics.flatMap(({ title, flags }) =>
    flags.map((flag) =>
      new Option(
        `${flag.name === 'v' ? '-v, ' : ''}--${flag.name}${placeholder(flag)}`,
        describe(flag, defaultOf(flag)),
      ).helpGroup(`${title}:`),
    ),
  );
}

const placeholders: Readonly<Record<Flag['type'], string>> = {
  bool: '',
  int: ' <n>',
  float: ' <x>',
  string: ' <text>',
  duration: ' <duration>',
  list: ' <a,b,...>',
  strings: ' <text>',
  map: ' <key=value,...>',
  switches: ' <key=bool,...>',
  gates: ' <Name=bool,...>',
  portRange: ' <first-last>',
};

function placeholder(flag: Flag): string {
  if (flag.choices !== undefined && flag.type === 'string') return ` <${flag.choices.join('|')}>`;
  return /-(file|dir|path|cafile|certfile|keyfile)$/.test(flag.name) ? ' <path>' : placeholders[flag.type];
}

function describe(flag: Flag, byDefault: string): string {
  const notes = [
    flag.choices !== undefined && flag.type !== 'string' && `one or more of ${flag.choices.join(', ')}`,
    byDefault !== '' && byDefault !== 'false' && `default ${byDefault}`,
    flag.deprecated && 'deprecated',
    flag.refused !== undefined
      ? 'refused'
      : flag.key === undefined && (flag.isUnserved ? 'not implemented, ignored' : 'no effect here'),
  ].filter((note) => typeof note === 'string');
  return notes.length === 0 ? flag.help : `${flag.help} (${notes.join('; ')})`;
}

import type { Flag } from './flag.js';
import { flagsByName } from './flags/all-flags.js';
import { didYouMean } from './suggestion.js';

/** Configured values of flags as texts, each with its source (flag, environment variable or file), and errors. */
export interface Settings {
  readonly values: Map<string, { readonly texts: string[]; readonly source: string }>;
  readonly errors: string[];
}

/**
 * Parses flags in Go's syntax: `--name=value`, `--name value`, `--switch`, `--switch=false`, `-v 4`. As in Go, a switch
 * does not take the next word: `--anonymous-auth false` is an error.
 */
export function readArguments(words: readonly string[], flags: Flags = flagsByName): Settings {
  const settings: Settings = { values: new Map(), errors: [] };
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    const match = /^(?:--([^=-][^=]*)|-(v))(?:=(.*))?$/s.exec(word);
    if (!match) {
      settings.errors.push(
        `unexpected argument "${word}"${word.startsWith('-') ? '' : ': flags are written --name=value'}`,
      );
      continue;
    }
    const name = match[1] ?? match[2]!;
    const flag = knownFlag(flags, name, `--${name}`, (known) => `--${known}`, settings.errors);
    let text = match[3];
    // Assumes that the next word is the value of the unknown flag; otherwise it would be reported too.
    if (!flag) {
      if (text === undefined && words[index + 1]?.startsWith('-') === false) index++;
      continue;
    }
    if (text === undefined) {
      if (flag.type === 'bool') text = 'true';
      else if (index + 1 < words.length) text = words[++index]!;
      else {
        settings.errors.push(`--${name}: a value is missing`);
        continue;
      }
    }
    add(settings, flag, [text], `--${name}`);
  }
  return settings;
}

const prefix = 'KEELSON_';
const variableOf = (flag: Flag) => prefix + flag.name.replaceAll('-', '_').toUpperCase();

/** Reads environment variables: KEELSON_ETCD_SERVERS sets --etcd-servers, and so for every flag. */
export function readEnvironment(environment: Readonly<Record<string, string | undefined>>): Settings {
  const settings: Settings = { values: new Map(), errors: [] };
  for (const flag of flagsByName.values()) {
    const text = environment[variableOf(flag)];
    if (text !== undefined) add(settings, flag, [text], variableOf(flag));
  }
  return settings;
}

/** Reads a mapping of flag names to values, from a YAML file. */
export function readMapping(mapping: Readonly<Record<string, unknown>>, source: string): Settings {
  const settings: Settings = { values: new Map(), errors: [] };
  for (const [name, value] of Object.entries(mapping)) {
    const flag = knownFlag(flagsByName, name, `${source}: ${name}`, (known) => known, settings.errors);
    if (flag) addValue(settings, flag, value, `${source}: ${name}`);
  }
  return settings;
}

/** Adds the value of a flag in a YAML file; null is no value. */
export function addValue(settings: Settings, flag: Flag, value: unknown, source: string): void {
  if (value === null || value === undefined) return;
  const texts = textsOf(flag, value);
  if (texts === undefined) settings.errors.push(`${source}: --${flag.name} does not take a list or mapping`);
  else add(settings, flag, texts, source);
}

type Flags = ReadonlyMap<string, Flag>;

function knownFlag(
  flags: Flags,
  name: string,
  where: string,
  write: (known: string) => string,
  errors: string[],
): Flag | undefined {
  const flag = flags.get(name);
  if (flag) return flag;
  errors.push(`${where}: unknown flag${didYouMean(name, flags.keys(), write)}`);
  return undefined;
}

function add(settings: Settings, flag: Flag, texts: string[], source: string): void {
  const name = flag.aliasOf ?? flag.name;
  const before = settings.values.get(name);
  if (before) before.texts.push(...texts);
  else settings.values.set(name, { texts, source });
}

function textsOf(flag: Flag, value: unknown): string[] | undefined {
  if (typeof value === 'object' && value !== null) {
    const many = Array.isArray(value) ? (value as unknown[]) : undefined;
    const takesMany = flag.type === 'list' || flag.type === 'strings';
    if (many) return takesMany || isMap(flag) ? allScalars(many) : undefined;
    if (!isMap(flag)) return undefined;
    const pairs = Object.entries(value);
    const texts = allScalars(pairs.map(([, item]) => item as unknown));
    return texts?.map((text, index) => `${pairs[index]![0]}=${text}`);
  }
  return allScalars([value]);
}

const isMap = (flag: Flag) => flag.type === 'map' || flag.type === 'switches' || flag.type === 'gates';

function allScalars(values: readonly unknown[]): string[] | undefined {
  const texts = values.map((value) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined,
  );
  return texts.includes(undefined) ? undefined : (texts as string[]);
}

import { readFileSync } from 'node:fs';
import { ownYaml, parseYamlMapping, type YamlMapping } from './config-files.js';
import { Validator } from './constraints.js';
import { crossChecks } from './cross-checks.js';
import { deepFreeze } from './deep-freeze.js';
import { derive, newDraft, put, type Draft } from './draft.js';
import { gateProblem, gateWarning, type FeatureGates } from './feature-gates.js';
import { FlagValueError, parseFlagValue } from './flag-value.js';
import { flagsByName } from './flags/all-flags.js';
import { Limits } from './limits.js';
import { runtimeConfigProblems } from './runtime-config.js';
import type { ServerConfig } from './server-config.js';
import { readArguments, readEnvironment, readMapping, type Settings } from './settings.js';
import { nearest } from './suggestion.js';

export interface ConfigWarning {
  readonly message: string;
  readonly flag: string;
}

export type LoadResult =
  | { readonly config: ServerConfig; readonly warnings: readonly ConfigWarning[]; readonly errors?: undefined }
  | { readonly errors: readonly string[] };

export interface LoadOptions {
  /** Whose defaults: keelson's come from config/default.yaml, kube-apiserver's from the flags themselves. */
  readonly defaults: 'keelson' | 'kube-apiserver';
}

/** Flags go before environment variables, those before the --config file, and that before defaults. All errors at once. */
export function loadConfig(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  options: LoadOptions,
): LoadResult {
  const fromArguments = readArguments(argv);
  const fromEnvironment = readEnvironment(environment);
  const path = (fromArguments.given.get('config') ?? fromEnvironment.given.get('config'))?.texts.at(-1);
  const file = path === undefined ? emptyFile : readConfigFile(path);
  const layers = [file.settings, fromEnvironment, fromArguments];
  const errors = layers.flatMap((layer) => layer.errors);
  const given: Settings['given'] = new Map(layers.flatMap((layer) => [...layer.given]));

  const draft = defaultDraft(options.defaults);
  for (const [name, { texts, source }] of given) {
    const flag = flagsByName.get(name)!;
    try {
      const value = parseFlagValue(flag, texts);
      if (flag.key !== undefined) put(draft, flag.key, value);
    } catch (error) {
      if (!(error instanceof FlagValueError)) throw error;
      errors.push(`${source}: ${error.message}`);
    }
    if (flag.refused !== undefined) errors.push(`${source}: ${flag.refused}`);
  }
  Object.assign(draft.limits, file.limits);

  const isKeyGiven = (key: string) => [...given.keys()].some((name) => flagsByName.get(name)?.key === key);
  const writtenAt = (key: string) => {
    const flag = [...flagsByName.values()].find(
      (candidate) => candidate.key === key && candidate.aliasOf === undefined,
    );
    if (!flag) return key.startsWith('limits.') ? `${path}: ${key}` : key;
    const setting = given.get(flag.name);
    return setting ? `${setting.source}: "${setting.texts.join(',')}"` : `--${flag.name}: its default`;
  };
  errors.push(...gateErrors(draft, given.get('feature-gates')?.source ?? '--feature-gates'));
  errors.push(...runtimeConfigErrors(draft, given.get('runtime-config')?.source ?? '--runtime-config'));
  errors.push(...finish(draft, isKeyGiven, writtenAt));
  if (errors.length > 0) return { errors: [...new Set(errors)] };
  const config: ServerConfig = deepFreeze(draft);
  return { config, warnings: warningsOf(config, given) };
}

/** Overrides for a server that is started by a program: any part of the configuration. */
export type ConfigOverrides = DeepPartial<ServerConfig>;
type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> | undefined }
    : T;

/** keelson's defaults with overrides, checked like everything else; throws ConfigError. */
export function defaultConfig(overrides: ConfigOverrides = {}): ServerConfig {
  const draft = defaultDraft('keelson');
  const keys = merge(draft, overrides, '');
  const errors = [...gateErrors(draft, 'featureGates'), ...runtimeConfigErrors(draft, 'runtimeConfig')];
  errors.push(
    ...finish(
      draft,
      (key) => keys.has(key),
      (key) => key,
    ),
  );
  if (errors.length > 0) throw new ConfigError(errors);
  return deepFreeze(draft as ServerConfig);
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(readonly errors: readonly string[]) {
    super(`the configuration is invalid:\n${errors.join('\n')}`);
  }
}

function defaultDraft(defaults: LoadOptions['defaults']): Draft {
  const draft = newDraft();
  const overlay = defaults === 'keelson' ? readMapping(ownYaml('default.yaml'), 'config/default.yaml') : undefined;
  for (const flag of flagsByName.values()) {
    if (flag.key === undefined || flag.aliasOf !== undefined) continue;
    put(draft, flag.key, parseFlagValue(flag, overlay?.given.get(flag.name)?.texts ?? [flag.default]));
  }
  Object.assign(draft.limits, ownYaml('limits.yaml'));
  return draft;
}

/** Derives, then checks: every property by its decorators, then properties against each other. */
function finish(draft: Draft, isKeyGiven: (key: string) => boolean, writtenAt: (key: string) => string): string[] {
  derive(draft, isKeyGiven);
  const errors: string[] = [];
  const visit = (failures: ReturnType<InstanceType<typeof Validator>['validateSync']>, at: string) => {
    for (const failure of failures) {
      const key = at + failure.property;
      for (const message of Object.values(failure.constraints ?? {})) errors.push(`${writtenAt(key)} ${message}`);
      visit(failure.children ?? [], `${key}.`);
    }
  };
  visit(new Validator().validateSync(draft), '');
  return errors.length > 0 ? errors : crossChecks(draft);
}

function warningsOf(config: ServerConfig, given: Settings['given']): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  for (const [name, { source }] of given) {
    const flag = flagsByName.get(name)!;
    if (flag.key !== undefined || flag.refused !== undefined) continue;
    const message = flag.isUnserved
      ? `${source} has no effect: what it asks for is not served by this version`
      : `${source} is accepted for compatibility and has no effect${flag.deprecated ? '; it is deprecated' : ''}`;
    warnings.push({ message, flag: name });
  }
  const gates = given.get('feature-gates');
  if (gates) {
    const set = parseFlagValue(flagsByName.get('feature-gates')!, gates.texts) as FeatureGates;
    for (const [name, enabled] of Object.entries(set)) {
      const message = gateWarning(name, enabled);
      if (message !== undefined) warnings.push({ message, flag: 'feature-gates' });
    }
  }
  const wantsAnonymous =
    given.has('anonymous-auth') &&
    parseFlagValue(flagsByName.get('anonymous-auth')!, given.get('anonymous-auth')!.texts) === true;
  if (wantsAnonymous && !config.authentication.anonymous) {
    const message = 'anonymous requests are refused while the authorization mode is AlwaysAllow';
    warnings.push({ message, flag: 'anonymous-auth' });
  }
  return warnings;
}

function gateErrors(draft: Draft, source: string): string[] {
  return Object.entries(draft.featureGates ?? {}).flatMap(([name, enabled]) => {
    const problem = gateProblem(name, enabled);
    return problem === undefined ? [] : [`${source}: ${problem}`];
  });
}

function runtimeConfigErrors(draft: Draft, source: string): string[] {
  return runtimeConfigProblems(draft.runtimeConfig).map((problem) => `${source}: ${problem}`);
}

interface ConfigFile {
  readonly settings: Settings;
  readonly limits: YamlMapping;
}

const emptyFile: ConfigFile = { settings: { given: new Map(), errors: [] }, limits: {} };

function readConfigFile(path: string): ConfigFile {
  try {
    const { limits = {}, ...flags } = parseYamlMapping(readFileSync(path, 'utf8'));
    const settings = readMapping(flags, path);
    if (settings.given.delete('config')) settings.errors.push(`${path}: config: a file cannot name another one`);
    if (typeof limits !== 'object' || limits === null || Array.isArray(limits)) {
      settings.errors.push(`${path}: limits: must be a mapping`);
      return { settings, limits: {} };
    }
    const known = Object.keys(new Limits());
    for (const name of Object.keys(limits)) {
      if (known.includes(name)) continue;
      const meant = nearest(name, known);
      settings.errors.push(
        `${path}: limits.${name}: unknown limit${meant === undefined ? '' : `; did you mean ${meant}?`}`,
      );
    }
    return { settings, limits: limits as YamlMapping };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { settings: { given: new Map(), errors: [`--config: ${path} cannot be read: ${reason}`] }, limits: {} };
  }
}

/** Copies `source` into `target` and tells the keys that it had; an undefined value is no value. */
function merge(target: Record<string, unknown>, source: object, at: string, keys = new Set<string>()): Set<string> {
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined || name === '__proto__') continue;
    keys.add(at + name);
    const inner = target[name];
    const isTree = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (isTree && typeof inner === 'object' && inner !== null)
      merge(inner as Record<string, unknown>, value as object, `${at}${name}.`, keys);
    else target[name] = value;
  }
  return keys;
}

import { readFileSync } from 'node:fs';
import { Validator } from 'class-validator';
import { auditWarnings } from './audit-checks.js';
import { authenticationWarnings } from './authentication-checks.js';
import { ownYaml, parseYamlMapping, type YamlMapping } from './config-files.js';
import { crossChecks } from './cross-checks.js';
import { deepFreeze } from './deep-freeze.js';
import type { Extensions } from './extensions.js';
import { deriveSettings, newMutableConfig, type MutableConfig } from './mutable-config.js';
import { gateProblem, gateWarning, type FeatureGates } from './feature-gates.js';
import type { Flag } from './flag.js';
import { FlagValueError, parseFlagValue } from './flag-value.js';
import { flagsByName } from './flags/all-flags.js';
import { formerLimits, Limits } from './limits.js';
import { runtimeConfigProblems } from './runtime-config.js';
import type { ServerConfig } from './server-config.js';
import { setSettingAt } from './setting-path.js';
import { readArguments, readEnvironment, readMapping, type Settings } from './settings.js';
import { didYouMean } from './suggestion.js';

export interface ConfigWarning {
  readonly message: string;
  readonly flag: string;
}

type LoadResult =
  | { readonly config: ServerConfig; readonly warnings: readonly ConfigWarning[]; readonly errors?: undefined }
  | { readonly errors: readonly string[] };

export interface LoadOptions extends Extensions {
  /** Set of defaults: `keelson` reads config/default.yaml first, `kube-apiserver` only those of the flags. */
  readonly defaults: 'keelson' | 'kube-apiserver';
}

/**
 * Loads the configuration from flags, environment variables, the --config file and defaults, in this order of
 * precedence. Returns all errors at once.
 */
export function loadConfig(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  options: LoadOptions,
): LoadResult {
  const fromArguments = readArguments(argv);
  const fromEnvironment = readEnvironment(environment);
  const path = (fromArguments.values.get('config') ?? fromEnvironment.values.get('config'))?.texts.at(-1);
  const file = path === undefined ? emptyFile : readConfigFile(path);
  const layers = [file.settings, fromEnvironment, fromArguments];
  const errors = layers.flatMap((layer) => layer.errors);
  const values: Settings['values'] = new Map(layers.flatMap((layer) => [...layer.values]));

  const config = defaultValues(options.defaults);
  for (const [name, { texts, source }] of values) {
    const flag = flagsByName.get(name)!;
    try {
      const value = parseFlagValue(withOwnNames(flag, options), texts);
      if (flag.key !== undefined) setSettingAt(config, flag.key, value);
    } catch (error) {
      if (!(error instanceof FlagValueError)) throw error;
      errors.push(`${source}: ${error.message}`);
    }
    if (flag.refused !== undefined) errors.push(`${source}: ${flag.refused}`);
  }
  Object.assign(config.limits, file.limits);

  const isKeySet = (key: string) => [...values.keys()].some((name) => flagsByName.get(name)?.key === key);
  const writtenAt = (key: string) => {
    const flag = [...flagsByName.values()].find(
      (candidate) => candidate.key === key && candidate.aliasOf === undefined,
    );
    if (!flag) return key.startsWith('limits.') ? `${path}: ${key}` : key;
    const setting = values.get(flag.name);
    return setting ? `${setting.source}: "${setting.texts.join(',')}"` : `--${flag.name}: its default`;
  };
  errors.push(...gateErrors(config, values.get('feature-gates')?.source ?? '--feature-gates'));
  errors.push(...runtimeConfigErrors(config, values.get('runtime-config')?.source ?? '--runtime-config'));
  errors.push(...finish(config, options, isKeySet, writtenAt));
  if (errors.length > 0) return { errors: [...new Set(errors)] };
  const frozen: ServerConfig = deepFreeze(config);
  return { config: frozen, warnings: [...file.warnings, ...warningsOf(frozen, values)] };
}

/** Overrides of any properties, for a server that is embedded in a program. */
export type ConfigOverrides = DeepPartial<ServerConfig>;
type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> | undefined }
    : T;

/** Returns the defaults of `keelson serve` with overrides, validated. Throws ConfigError. */
export function defaultConfig(overrides: ConfigOverrides = {}, extensions: Extensions = {}): ServerConfig {
  const config = defaultValues('keelson');
  const keys = merge(config, overrides, '');
  const errors = [...gateErrors(config, 'featureGates'), ...runtimeConfigErrors(config, 'runtimeConfig')];
  errors.push(
    ...finish(
      config,
      extensions,
      (key) => keys.has(key),
      (key) => key,
    ),
  );
  if (errors.length > 0) throw new ConfigError(errors);
  return deepFreeze(config as ServerConfig);
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(readonly errors: readonly string[]) {
    super(`the configuration is invalid:\n${errors.join('\n')}`);
  }
}

function defaultValues(defaults: LoadOptions['defaults']): MutableConfig {
  const config = newMutableConfig();
  const overlay = defaults === 'keelson' ? readMapping(ownYaml('default.yaml'), 'config/default.yaml') : undefined;
  for (const flag of flagsByName.values()) {
    if (flag.key === undefined || flag.aliasOf !== undefined) continue;
    setSettingAt(config, flag.key, parseFlagValue(flag, overlay?.values.get(flag.name)?.texts ?? [flag.default]));
  }
  Object.assign(config.limits, ownYaml('limits.yaml'));
  return config;
}

/** Derives settings, then validates each property by its decorators, then combinations of properties. */
function finish(
  config: MutableConfig,
  extensions: Extensions,
  isKeySet: (key: string) => boolean,
  writtenAt: (key: string) => string,
): string[] {
  deriveSettings(config, isKeySet);
  const errors: string[] = [];
  const visit = (failures: ReturnType<InstanceType<typeof Validator>['validateSync']>, at: string) => {
    for (const failure of failures) {
      const key = at + failure.property;
      for (const message of Object.values(failure.constraints ?? {})) errors.push(`${writtenAt(key)} ${message}`);
      visit(failure.children ?? [], `${key}.`);
    }
  };
  visit(new Validator().validateSync(config), '');
  return errors.length > 0 ? errors : crossChecks(config, extensions, isKeySet);
}

/** Adds the names of an embedding program to the choices of --storage-backend. */
function withOwnNames(flag: Flag, { storageBackends = [] }: Extensions): Flag {
  if (flag.key !== 'storage.backend') return flag;
  return { ...flag, choices: [...(flag.choices ?? []), ...storageBackends.map(({ name }) => name)] };
}

function warningsOf(config: ServerConfig, values: Settings['values']): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  for (const [name, { source }] of values) {
    const flag = flagsByName.get(name)!;
    if (flag.key !== undefined || flag.refused !== undefined) continue;
    const message = flag.isUnserved
      ? `${source} has no effect: this server does not implement the feature`
      : `${source} is accepted for compatibility and has no effect${flag.deprecated ? '; it is deprecated' : ''}`;
    warnings.push({ message, flag: name });
  }
  const gates = values.get('feature-gates');
  if (gates) {
    const set = parseFlagValue(flagsByName.get('feature-gates')!, gates.texts) as FeatureGates;
    for (const [name, enabled] of Object.entries(set)) {
      const message = gateWarning(name, enabled);
      if (message !== undefined) warnings.push({ message, flag: 'feature-gates' });
    }
  }
  const wantsAnonymous =
    values.has('anonymous-auth') &&
    parseFlagValue(flagsByName.get('anonymous-auth')!, values.get('anonymous-auth')!.texts) === true;
  if (wantsAnonymous && !config.authentication.anonymous) {
    const message =
      '--anonymous-auth has no effect: anonymous requests are rejected with --authorization-mode=AlwaysAllow';
    warnings.push({ message, flag: 'anonymous-auth' });
  }
  return [...warnings, ...authenticationWarnings(config), ...auditWarnings(config)];
}

function gateErrors(config: MutableConfig, source: string): string[] {
  return Object.entries(config.featureGates ?? {}).flatMap(([name, enabled]) => {
    const problem = gateProblem(name, enabled);
    return problem === undefined ? [] : [`${source}: ${problem}`];
  });
}

function runtimeConfigErrors(config: MutableConfig, source: string): string[] {
  return runtimeConfigProblems(config.runtimeConfig).map((problem) => `${source}: ${problem}`);
}

interface ConfigFile {
  readonly settings: Settings;
  readonly limits: YamlMapping;
  readonly warnings: readonly ConfigWarning[];
}

const emptyFile: ConfigFile = { settings: { values: new Map(), errors: [] }, limits: {}, warnings: [] };

function readConfigFile(path: string): ConfigFile {
  try {
    const { limits = {}, ...flags } = parseYamlMapping(readFileSync(path, 'utf8'));
    const settings = readMapping(flags, path);
    if (settings.values.delete('config'))
      settings.errors.push(`${path}: config: a --config file cannot include another one`);
    if (typeof limits !== 'object' || limits === null || Array.isArray(limits)) {
      settings.errors.push(`${path}: limits: must be a mapping`);
      return { ...emptyFile, settings };
    }
    const known = Object.keys(new Limits());
    const warnings: ConfigWarning[] = [];
    const used = Object.entries(limits).filter(([name]) => {
      if (known.includes(name)) return true;
      const reason = formerLimits.get(name);
      if (reason === undefined)
        settings.errors.push(`${path}: limits.${name}: unknown limit${didYouMean(name, known)}`);
      else
        warnings.push({
          message: `${path}: limits.${name} has no effect and should be removed: ${reason}`,
          flag: 'config',
        });
      return false;
    });
    return { settings, limits: Object.fromEntries(used), warnings };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...emptyFile, settings: { values: new Map(), errors: [`--config: ${path} cannot be read: ${reason}`] } };
  }
}

/** Copies defined values of `source` into `target` and returns their keys. */
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

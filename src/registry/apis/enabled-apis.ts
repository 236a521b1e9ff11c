import type { NamingProfile } from '../../config/naming-profile.js';
import {
  apiLevels,
  parseRuntimeKey,
  type ApiLevel,
  type RuntimeConfig,
  type RuntimeKey,
} from '../../config/runtime-config.js';
import { didYouMean } from '../../config/suggestion.js';
import { apiVersionOf } from '../../machinery/gvk.js';
import { removedApis, type RemovedApi } from './removed-apis.js';

/** A version of an API group that this server implements, with the plural names of its resources. */
export interface KnownApi {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly string[];
  /** Overrides the default, which is false for alpha and beta versions and true for stable ones. */
  readonly isOnByDefault?: boolean;
}

type ApiChoice =
  | {
      readonly isServed: (group: string, version: string, resource: string) => boolean;
      /** Warnings for keys of APIs that earlier releases served; those keys are ignored. */
      readonly warnings: readonly string[];
      readonly errors?: undefined;
    }
  | { readonly errors: readonly string[] };

/**
 * Applies --runtime-config to all implemented APIs. The most specific key wins: `group/version/resource`, then
 * `group/version`, then `api/beta`, `api/alpha` or `api/ga`, then `api/all`, then the default. So one resource of a
 * disabled version can be enabled. All keys that name no known API are reported as errors.
 */
export function chooseApis(runtimeConfig: RuntimeConfig, known: readonly KnownApi[], naming: NamingProfile): ApiChoice {
  const keys = keysOf(runtimeConfig);
  const problems = keys.map(({ key }) => problemWith(key, known, naming));
  const errors = problems.flatMap((problem) => problem?.error ?? []);
  if (errors.length > 0) return { errors };

  const served = new Set<string>();
  for (const { group, version, resources, isOnByDefault = !isPreRelease(version) } of known) {
    let isOn = isOnByDefault;
    for (const level of apiLevels) {
      const levelKey = keys.find(({ key }) => key.type === 'level' && key.level === level);
      if (levelKey && isOfLevel(version, level)) isOn = levelKey.isOn;
    }
    const own = keys.filter(({ key }) => key.type !== 'level' && key.group === group && key.version === version);
    isOn = own.findLast(({ key }) => key.type === 'version')?.isOn ?? isOn;
    for (const resource of resources) {
      const ownKey = own.findLast(({ key }) => key.type === 'resource' && key.resource === resource);
      if (ownKey?.isOn ?? isOn) served.add(`${group}/${version}/${resource}`);
    }
  }
  return {
    isServed: (group, version, resource) => served.has(`${group}/${version}/${resource}`),
    warnings: problems.flatMap((problem) => problem?.warnings ?? []),
  };
}

interface ConfigKey {
  readonly key: RuntimeKey;
  readonly isOn: boolean;
}

/** Keys that cannot be parsed were rejected with the configuration. */
function keysOf(config: RuntimeConfig): ConfigKey[] {
  return Object.entries(config).flatMap(([text, isOn]) => {
    const key = parseRuntimeKey(text);
    return key === undefined ? [] : [{ key, isOn }];
  });
}

const preRelease = /^v\d+(alpha|beta)\d+$/;
const isPreRelease = (version: string) => preRelease.test(version);

function isOfLevel(version: string, level: ApiLevel): boolean {
  if (level === 'all') return true;
  if (level === 'ga') return /^v\d+$/.test(version);
  return preRelease.exec(version)?.[1] === level;
}

interface Problem {
  readonly error?: string;
  readonly warnings?: readonly string[];
}

function problemWith(key: RuntimeKey, known: readonly KnownApi[], naming: NamingProfile): Problem | undefined {
  if (key.type === 'level') return undefined;
  const { group, version } = key;
  const name = apiVersionOf(group, version);
  const versions = known.filter((api) => api.group === group);
  const found = versions.find((api) => api.version === version);
  if (found && (key.type === 'version' || found.resources.includes(key.resource))) return undefined;

  const gone = removedApis(naming).filter(
    (api) =>
      api.group === group && api.version === version && (key.type === 'version' || api.resource === key.resource),
  );
  if (gone.length > 0) return { warnings: gone.map(removalWarning) };
  if (versions.length === 0) {
    const groups = new Set(known.map((api) => api.group));
    return { error: `${name}: the group "${group}" is not known${didYouMean(group, groups)}` };
  }
  if (!found) return { error: `${name} is not known; the group has ${versions.map((api) => api.version).join(', ')}` };
  const resource = key.type === 'resource' ? key.resource : '';
  return { error: `${name} has no resource "${resource}"${didYouMean(resource, found.resources)}` };
}

function removalWarning({ group, version, kind, removed, replacement }: RemovedApi): string {
  const instead = replacement && `use ${apiVersionOf(replacement.group, replacement.version)} ${replacement.kind}`;
  return `${apiVersionOf(group, version)} ${kind} was removed in v${removed}; ${instead ?? 'it has no replacement'}`;
}

/**
 * Value of --runtime-config: keys and whether they are enabled. Keys are `api/all|ga|beta|alpha`, `<group>/<version>`
 * and `<group>/<version>/<resource>`; the group of `v1`, `/v1` and `api/v1` is the core one.
 */
export type RuntimeConfig = Readonly<Record<string, boolean>>;

export type RuntimeKey =
  | { readonly type: 'level'; readonly level: ApiLevel }
  | { readonly type: 'version'; readonly group: string; readonly version: string }
  | { readonly type: 'resource'; readonly group: string; readonly version: string; readonly resource: string };

/** Levels in the order of their application: `all` first, so that the others override it. */
export const apiLevels = ['all', 'ga', 'beta', 'alpha'] as const;
export type ApiLevel = (typeof apiLevels)[number];

const levelKeys: ReadonlyMap<string, ApiLevel> = new Map(apiLevels.map((level) => [`api/${level}`, level]));

/** Parses a key; returns undefined if it is malformed. */
export function parseRuntimeKey(key: string): RuntimeKey | undefined {
  const level = levelKeys.get(key);
  if (level !== undefined) return { type: 'level', level };
  const words = (/^v\d/.test(key) ? `/${key}` : key.replace(/^api\//, '/')).split('/');
  const [group = '', version = '', resource] = words;
  if (words.length > 3 || (group !== '' && !isName(group)) || !isName(version)) return undefined;
  if (resource === undefined) return { type: 'version', group, version };
  return isName(resource) ? { type: 'resource', group, version, resource } : undefined;
}

/** Returns errors about the syntax. chooseApis() checks the names of groups, versions and resources. */
export function runtimeConfigProblems(config: RuntimeConfig): string[] {
  const keys = Object.keys(config);
  if (keys.length === 1 && config['api/all'] === false) return ['api/all=false disables all APIs; enable at least one'];
  return keys
    .filter((key) => parseRuntimeKey(key) === undefined)
    .map((key) => `"${key}" must be <group>/<version>, <group>/<version>/<resource> or api/${apiLevels.join('|')}`);
}

const isName = (text: string) => /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(text);

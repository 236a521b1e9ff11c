/**
 * --runtime-config as it was written: key → on or off. Keys are `api/all|ga|beta|alpha`, `<group>/<version>` and
 * `<group>/<version>/<resource>`; the group of `v1`, `/v1` and `api/v1` is the core one.
 */
export type RuntimeConfig = Readonly<Record<string, boolean>>;

export type RuntimeKey =
  | { readonly type: 'level'; readonly level: ApiLevel }
  | { readonly type: 'version'; readonly group: string; readonly version: string }
  | { readonly type: 'resource'; readonly group: string; readonly version: string; readonly resource: string };

/** In the order in which they take effect: `all` first, so that the others can take something back from it. */
export const apiLevels = ['all', 'ga', 'beta', 'alpha'] as const;
export type ApiLevel = (typeof apiLevels)[number];

const levelKeys: ReadonlyMap<string, ApiLevel> = new Map(apiLevels.map((level) => [`api/${level}`, level]));

/** Undefined when a key has no meaning, whatever is served. */
export function parseRuntimeKey(key: string): RuntimeKey | undefined {
  const level = levelKeys.get(key);
  if (level !== undefined) return { type: 'level', level };
  const words = (/^v\d/.test(key) ? `/${key}` : key.replace(/^api\//, '/')).split('/');
  const [group = '', version = '', resource] = words;
  if (words.length > 3 || (group !== '' && !isName(group)) || !isName(version)) return undefined;
  if (resource === undefined) return { type: 'version', group, version };
  return isName(resource) ? { type: 'resource', group, version, resource } : undefined;
}

/** The names in it are checked where it is known what could be served. */
export function runtimeConfigProblems(config: RuntimeConfig): string[] {
  const keys = Object.keys(config);
  if (keys.length === 1 && config['api/all'] === false) return ['api/all=false alone leaves nothing to serve'];
  return keys
    .filter((key) => parseRuntimeKey(key) === undefined)
    .map((key) => `"${key}" must be <group>/<version>, <group>/<version>/<resource> or api/${apiLevels.join('|')}`);
}

const isName = (text: string) => /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(text);

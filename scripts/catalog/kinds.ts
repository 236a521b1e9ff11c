import { valueOf, type GoPackage, type GoStruct } from './go-source.js';

interface Lifecycle {
  introduced?: string;
  deprecated?: string;
  removed?: string;
  /** `group,version,kind` */
  replacement?: string;
}

/** Parses the generated lifecycle files. */
export function parseLifecycles(text: string): Map<string, Lifecycle> {
  const found = new Map<string, Lifecycle>();
  const of = (kind: string) => {
    let lifecycle = found.get(kind);
    if (!lifecycle) found.set(kind, (lifecycle = {}));
    return lifecycle;
  };
  for (const [, kind, what, major, minor] of text.matchAll(
    /^func \(in \*(\w+)\) APILifecycle(Introduced|Deprecated|Removed)\(\)[^{]*\{\n\treturn (\d+), (\d+)\n/gm,
  )) {
    of(kind!)[what!.toLowerCase() as 'introduced' | 'deprecated' | 'removed'] = `${major}.${minor}`;
  }
  for (const [, kind, group, version, name] of text.matchAll(
    /^func \(in \*(\w+)\) APILifecycleReplacement\(\)[^{]*\{\n\treturn schema\.GroupVersionKind\{Group: "([^"]*)", Version: "([^"]*)", Kind: "([^"]*)"\}/gm,
  )) {
    of(kind!).replacement = `${group},${version},${name}`;
  }
  return found;
}

/** The kinds that a package registers in its group version. */
export function registeredKinds(register: string): string[] {
  const names = new Set<string>();
  for (const [, list] of register.matchAll(/AddKnownTypes\(\s*SchemeGroupVersion,([^]*?)\n\t*\)/g)) {
    for (const [, name] of list!.matchAll(/(?:^|\s)&(\w+)\{\}/g)) names.add(name!);
  }
  return [...names].sort();
}

export function groupOf(register: string): string {
  const name = /GroupName\s*=\s*"([^"]*)"/.exec(register)?.[1];
  if (name === undefined) throw new Error('the package has no GroupName');
  return name;
}

/**
 * One line per kind: `Deployment deployments namespaced status introduced=1.9 with=scale`. Kinds that are not a
 * resource (lists, options, reviews without a client) have `-` instead of the resource.
 */
export function kindLines(
  go: GoPackage,
  kinds: readonly string[],
  lifecycles: ReadonlyMap<string, Lifecycle>,
): string[] {
  return kinds.map((kind) => {
    const struct = go.structs.get(kind);
    const markers = struct?.markers ?? [];
    const isResource = markers.includes('genclient') && hasMetadata(struct);
    const words = isResource
      ? [
          kind,
          valueOf(markers, 'resourceName') ?? plural(kind),
          markers.includes('genclient:nonNamespaced') ? 'cluster' : 'namespaced',
          ...(hasStatus(struct) && !markers.includes('genclient:noStatus') ? ['status'] : []),
          ...listOf(markers, 'genclient:onlyVerbs', 'only'),
          ...listOf(markers, 'genclient:skipVerbs', 'without'),
          ...subresources(markers),
        ]
      : [kind, '-'];
    const { introduced, deprecated, removed, replacement } = lifecycles.get(kind) ?? {};
    if (introduced) words.push(`introduced=${introduced}`);
    if (deprecated) words.push(`deprecated=${deprecated}`);
    if (removed) words.push(`removed=${removed}`);
    if (replacement) words.push(`replacement=${replacement}`);
    return words.join(' ');
  });
}

function hasMetadata(struct: GoStruct | undefined): boolean {
  return struct?.fields.some(({ type }) => /(^|\.)ObjectMeta$/.test(type)) ?? false;
}

function hasStatus(struct: GoStruct | undefined): boolean {
  return struct?.fields.some(({ goName }) => goName === 'Status') ?? false;
}

function listOf(markers: readonly string[], name: string, word: string): string[] {
  const value = valueOf(markers, name);
  return value === undefined ? [] : [`${word}=${value}`];
}

/** Parses `genclient:method=GetScale,verb=get,subresource=scale,…`. */
function subresources(markers: readonly string[]): string[] {
  const names = markers
    .map((text) => /^genclient:method=.*subresource=([\w/]+)/.exec(text)?.[1])
    .filter((name) => name);
  return names.length === 0 ? [] : [`with=${[...new Set(names)].sort().join(',')}`];
}

/** The plural of a kind, as client generators compute it. */
function plural(kind: string): string {
  const name = kind.toLowerCase();
  if (name === 'endpoints') return name;
  if (/(s|x|z|ch|sh)$/.test(name)) return `${name}es`;
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  return `${name}s`;
}

import type { MatchResources } from '../../catalog/types/admissionregistration.v1.js';
import { compareUtf8 } from '../../std/compare-utf8.js';
import type { ResourceRegistry, ServedResource } from '../../registry/resource-registry.js';

/** Kinds of one policy whose types are checked. */
const kindsMax = 10;

/** Returns the resources that the rules name without wildcards, one of each kind, ordered by group, version and kind. */
export function matchedResources({ resourceRules }: MatchResources, registry: ResourceRegistry): ServedResource[] {
  const found = new Map<string, ServedResource>();
  for (const { apiGroups = [], apiVersions = [], resources = [] } of resourceRules ?? []) {
    if ([...apiGroups, ...apiVersions].includes('*')) continue;
    const names = resources.filter((name) => !/[*/]/.test(name)).sort(compareUtf8);
    for (const group of [...apiGroups].sort(compareUtf8)) {
      for (const version of [...apiVersions].sort(compareUtf8)) {
        for (const name of names) {
          const served = registry.find(group, version, name);
          if (served?.type === 'stored') found.set([group, version, served.definition.kind].join('/'), served);
          if (found.size === kindsMax) return sorted(found);
        }
      }
    }
  }
  return sorted(found);
}

const sorted = (found: ReadonlyMap<string, ServedResource>): ServedResource[] =>
  [...found].sort(([a], [b]) => compareUtf8(a, b)).map(([, served]) => served);

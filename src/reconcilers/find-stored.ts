import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.js';

/** Undefined where --runtime-config leaves the resource out. */
export function findStored(
  registry: ResourceRegistry,
  group: string,
  version: string,
  resource: string,
): ServedResource | undefined {
  const found = registry.find(group, version, resource);
  return found?.type === 'stored' ? found : undefined;
}

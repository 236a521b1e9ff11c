import type { ResourceRegistry, ServedResource } from '../registry/resource-registry.js';

/** Returns a stored resource; undefined if --runtime-config disables it. */
export function findStored(
  registry: ResourceRegistry,
  group: string,
  version: string,
  resource: string,
): ServedResource | undefined {
  const found = registry.find(group, version, resource);
  return found?.type === 'stored' ? found : undefined;
}

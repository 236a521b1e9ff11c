import type { ResourceRegistry } from '../../src/registry/resource-registry.js';

/** Stops serving a version and closes the caches of its resources, as on deletion of a custom kind. */
export function stopServing(registry: ResourceRegistry, group: string, version: string): void {
  const served = registry.findVersion(group, version)!;
  registry.replaceVersions([{ ...served, resources: [] }]);
  for (const resource of served.resources) {
    if (resource.type === 'stored') resource.store.dependencies.feed.removeResource(resource.store.scopeOf(''));
  }
}

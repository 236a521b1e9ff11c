import type { ResourceRegistry, Served, ServedVersion } from './resource-registry.js';

/** The resources that clients see. */
export type VisibleResources = Pick<ResourceRegistry, 'generation' | 'find' | 'findVersion' | 'servedVersions'>;

/** The resources of some groups. Those of other groups remain for the server itself. */
export class ResourcesOfGroups implements VisibleResources {
  private readonly groups: ReadonlySet<string>;

  constructor(
    private readonly registry: ResourceRegistry,
    groups: readonly string[],
  ) {
    this.groups = new Set(groups);
  }

  get generation(): number {
    return this.registry.generation;
  }

  find(group: string, version: string, resource: string): Served | undefined {
    return this.groups.has(group) ? this.registry.find(group, version, resource) : undefined;
  }

  findVersion(group: string, version: string): ServedVersion | undefined {
    return this.groups.has(group) ? this.registry.findVersion(group, version) : undefined;
  }

  servedVersions(): ServedVersion[] {
    return this.registry.servedVersions().filter(({ group }) => this.groups.has(group));
  }
}

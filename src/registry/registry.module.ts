import { Module, type DynamicModule } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import type { NamingProfile } from '../config/naming-profile.js';
import { assert } from '../std/assert.js';
import { apiGroupsOf, type ApiGroupMetadata, type SubresourceHandler, type VirtualHandler } from './api-group.js';
import type { ResourceDefinition, VirtualResourceDefinition } from './resource-definition.js';
import type { ResourceRegistry, Served } from './resource-registry.js';
import { ResourceStore, type StoreParts } from './resource-store.js';

export interface RegistryParts {
  readonly registry: ResourceRegistry;
  readonly storeParts: StoreParts;
  readonly naming: NamingProfile;
}

/** Finds the classes marked with @ApiGroup, in whichever module they are provided, and serves what they declare. */
@Module({})
export class RegistryModule {
  static for(parts: RegistryParts): DynamicModule {
    return {
      module: RegistryModule,
      imports: [DiscoveryModule],
      providers: [
        {
          provide: 'api-groups',
          inject: [DiscoveryService],
          useFactory: (discovery: DiscoveryService) => new ApiGroupCollector(discovery, parts),
        },
      ],
    };
  }
}

class ApiGroupCollector {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly parts: RegistryParts,
  ) {}

  onModuleInit(): void {
    for (const { instance } of this.discovery.getProviders()) {
      if (typeof instance !== 'object' || instance === null) continue;
      for (const found of apiGroupsOf(instance as object, this.parts.naming)) {
        addGroup(instance as object, found, this.parts);
      }
    }
  }
}

function addGroup(instance: object, group: ApiGroupMetadata, { registry, storeParts }: RegistryParts): void {
  const methods = instance as Record<string, (...args: never[]) => unknown>;
  const resources: Served[] = [
    ...(group.resources ?? []).map((definition) => storedResource(definition, group, methods, storeParts)),
    ...(group.virtual ?? []).map((definition) => virtualResource(definition, group, methods)),
  ];
  registry.addVersion({
    group: group.group,
    version: group.version,
    groupPriority: group.groupPriority ?? 1000,
    versionPriority: group.versionPriority ?? 15,
    resources,
  });
}

function storedResource(
  definition: ResourceDefinition,
  group: ApiGroupMetadata,
  methods: Record<string, (...args: never[]) => unknown>,
  storeParts: StoreParts,
): Served {
  assert(
    definition.group === group.group && definition.version === group.version,
    `${definition.plural} says another group than the class that serves it: ${group.group}/${group.version}`,
  );
  const handlers = new Map<string, SubresourceHandler>();
  for (const { resource, subresource, method } of group.subresourceMethods) {
    if (resource === definition.plural) handlers.set(subresource, methods[method]!.bind(methods) as SubresourceHandler);
  }
  for (const [name, subresource] of Object.entries(definition.subresources)) {
    assert(
      subresource.type === 'lens' || handlers.has(name),
      `${definition.plural}/${name} is declared, but no method is marked @Subresource('${definition.plural}', '${name}')`,
    );
  }
  return { type: 'stored', definition, store: new ResourceStore(definition, storeParts), handlers };
}

function virtualResource(
  definition: VirtualResourceDefinition,
  group: ApiGroupMetadata,
  methods: Record<string, (...args: never[]) => unknown>,
): Served {
  const found = group.virtualMethods.find(({ resource }) => resource === definition.plural);
  assert(found, `${definition.plural} is declared, but no method is marked @VirtualResource('${definition.plural}')`);
  return { type: 'virtual', definition, handle: methods[found.method]!.bind(methods) as VirtualHandler };
}

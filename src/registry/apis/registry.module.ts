import { Module, type DynamicModule } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { FlagError } from '../../config/flag-error.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { RuntimeConfig } from '../../config/runtime-config.js';
import type { GroupVersionKind } from '../../machinery/gvk.js';
import { assert } from '../../std/assert.js';
import type { Logger } from '../../std/logger.js';
import { isRemoved, type ApiLifecycle } from './api-lifecycle.js';
import {
  apiGroupsOf,
  type ApiGroupMetadata,
  type ComputeList,
  type SubresourceHandler,
  type VirtualHandler,
} from './api-group.js';
import type { Hub, ResourceDefinition, VirtualResourceDefinition } from '../definition/resource-definition.js';
import { chooseApis } from './enabled-apis.js';
import type { Reserve } from '../write/reservation.js';
import type { ResourceRegistry, Served, ServedResource, ServedVirtual } from '../resource-registry.js';
import { ResourceStore, type StoreDependencies } from '../resource-store.js';

export interface RegistryDependencies {
  readonly registry: ResourceRegistry;
  readonly storeDependencies: StoreDependencies;
  readonly naming: NamingProfile;
  readonly runtimeConfig: RuntimeConfig;
  readonly logger: Logger;
  /** Returns undefined for kinds that are not built in. */
  readonly lifecycleOf: (gvk: GroupVersionKind) => ApiLifecycle | undefined;
}

/** Finds the provider classes marked with @ApiGroup in all modules and serves their resources. */
@Module({})
export class RegistryModule {
  static for(dependencies: RegistryDependencies): DynamicModule {
    return {
      module: RegistryModule,
      imports: [DiscoveryModule],
      providers: [
        {
          provide: 'api-groups',
          inject: [DiscoveryService],
          useFactory: (discovery: DiscoveryService) => new ApiGroupCollector(discovery, dependencies),
        },
      ],
    };
  }
}

class ApiGroupCollector {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly dependencies: RegistryDependencies,
  ) {}

  onModuleInit(): void {
    serveApiGroups(
      this.discovery.getProviders().map(({ instance }) => instance as unknown),
      this.dependencies,
    );
  }
}

/** Serves the resources of those instances whose classes are marked with @ApiGroup. */
export function serveApiGroups(instances: readonly unknown[], dependencies: RegistryDependencies): void {
  const found: FoundVersion[] = [];
  for (const instance of instances) {
    if (typeof instance !== 'object' || instance === null) continue;
    for (const options of apiGroupsOf(instance, dependencies.naming)) {
      found.push({ options, methods: instance as Methods });
    }
  }
  serveVersions(found, dependencies);
}

type Methods = Record<string, (...args: never[]) => unknown>;

interface FoundVersion {
  readonly options: ApiGroupMetadata;
  readonly methods: Methods;
}

/** Serves the versions that --runtime-config enables. A disabled version may still be the storage version. */
function serveVersions(found: readonly FoundVersion[], dependencies: RegistryDependencies): void {
  const { registry, runtimeConfig, naming, logger, storeDependencies, lifecycleOf } = dependencies;
  const known = found.map(({ options: { group, version, resources = [], virtual = [], isOnByDefault } }) => ({
    group,
    version,
    ...(isOnByDefault !== undefined && { isOnByDefault }),
    resources: [...resources, ...virtual].map(({ plural }) => plural),
  }));
  const choice = chooseApis(runtimeConfig, known, naming);
  if (choice.errors) throw new FlagError('runtime-config', choice.errors);
  for (const warning of choice.warnings) logger.warn('--runtime-config names a removed API', { warning });

  const stores = new Stores(found, storeDependencies);
  for (const { options, methods } of found) {
    const { group, version } = options;
    const isServed = ({ plural, kind }: { plural: string; kind: string }) =>
      choice.isServed(group, version, plural) && !isRemoved(lifecycleOf({ group, version, kind }) ?? {});
    const resources = [
      ...(options.resources ?? [])
        .filter(isServed)
        .map((definition) => storedResource(definition, options, methods, stores)),
      ...(options.virtual ?? []).filter(isServed).map((definition) => virtualResource(definition, options, methods)),
    ].map((served): Served => {
      const lifecycle = lifecycleOf(served.definition);
      return lifecycle ? { ...served, lifecycle } : served;
    });
    if (resources.length === 0) continue;
    registry.addVersion({
      group,
      version,
      groupPriority: options.groupPriority ?? 1000,
      versionPriority: options.versionPriority ?? 15,
      resources,
    });
  }
}

/** Creates one store per resource, shared by all versions of the resource. */
class Stores {
  private readonly byPrefix = new Map<string, ResourceStore>();
  private readonly definitions = new Map<string, ResourceDefinition>();
  /** The definitions of other versions, by the path of the storage version. */
  private readonly otherVersions = new Map<string, (ResourceDefinition & { readonly hub: Hub })[]>();

  constructor(
    found: readonly FoundVersion[],
    private readonly dependencies: StoreDependencies,
  ) {
    for (const { options } of found) {
      for (const definition of options.resources ?? []) this.definitions.set(pathOf(definition), definition);
    }
    for (const definition of this.definitions.values()) if (hasHub(definition)) this.addOtherVersion(definition);
  }

  private addOtherVersion(definition: ResourceDefinition & { readonly hub: Hub }): void {
    const path = pathOf(definition.hub.stored);
    const known = this.otherVersions.get(path);
    if (known) known.push(definition);
    else this.otherVersions.set(path, [definition]);
  }

  of(definition: ResourceDefinition): ResourceStore {
    const stored = definition.hub ? this.definitions.get(pathOf({ ...definition.hub.stored })) : definition;
    assert(stored && !stored.hub, `${pathOf(definition)} has a storage version that no module defines`);
    let store = this.byPrefix.get(stored.storagePrefix);
    if (!store) this.byPrefix.set(stored.storagePrefix, (store = this.create(stored)));
    assert(
      store.definition === stored,
      `${pathOf(stored)} and ${pathOf(store.definition)} have the same storagePrefix`,
    );
    return store;
  }

  /** Creates a store that also decodes values of the resource's other versions, served or not. */
  private create(stored: ResourceDefinition): ResourceStore {
    const store = new ResourceStore(stored, this.dependencies);
    for (const { hub, group, version, kind } of this.otherVersions.get(pathOf(stored)) ?? []) {
      store.codec.addVersion({ group, version, kind, toHub: hub.toHub });
    }
    return store;
  }
}

function hasHub(definition: ResourceDefinition): definition is ResourceDefinition & { readonly hub: Hub } {
  return definition.hub !== undefined;
}

function pathOf({ group, version, plural }: { group: string; version: string; plural: string }): string {
  return `${group}/${version}/${plural}`;
}

function storedResource(
  definition: ResourceDefinition,
  group: ApiGroupMetadata,
  methods: Methods,
  stores: Stores,
): ServedResource {
  assert(
    definition.group === group.group && definition.version === group.version,
    `${definition.plural} has another group or version than the class that serves it: ${group.group}/${group.version}`,
  );
  const handlers = new Map<string, SubresourceHandler>();
  for (const { as, resource, subresource = '', method } of group.methods) {
    if (as !== 'subresource') continue;
    if (resource === definition.plural) handlers.set(subresource, methods[method]!.bind(methods) as SubresourceHandler);
  }
  for (const [name, subresource] of Object.entries(definition.subresources)) {
    assert(
      subresource.type === 'view' || handlers.has(name),
      `${definition.plural}/${name} is declared, but no method is marked @Subresource('${definition.plural}', '${name}')`,
    );
  }
  const store = stores.of(definition);
  const struct = store.dependencies.types.kind(definition.group, definition.version, definition.kind);
  if (definition.hub) store.ownership.add(definition, struct);
  const reserves = group.methods.find(({ as, resource }) => as === 'reserves' && resource === definition.plural);
  if (reserves) store.reserve = methods[reserves.method]!.bind(methods) as Reserve;
  const computed = group.methods.find(({ as, resource }) => as === 'computed' && resource === definition.plural);
  return {
    type: 'stored',
    definition,
    struct,
    store,
    handlers,
    ...(computed && { computeList: methods[computed.method]!.bind(methods) as ComputeList }),
  };
}

function virtualResource(
  definition: VirtualResourceDefinition,
  group: ApiGroupMetadata,
  methods: Methods,
): ServedVirtual {
  const found = group.methods.find(({ as, resource }) => as === 'virtual' && resource === definition.plural);
  assert(found, `${definition.plural} is declared, but no method is marked @VirtualResource('${definition.plural}')`);
  return { type: 'virtual', definition, handle: methods[found.method]!.bind(methods) as VirtualHandler };
}

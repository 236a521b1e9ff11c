import {
  Module,
  type DynamicModule,
  type FactoryProvider,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type Type,
} from '@nestjs/common';
import type { ServerComponents } from './assembly/components.js';
import { AdmissionregistrationGroup } from './modules/admissionregistration/admissionregistration.group.js';
import { ApiextensionsModule } from './modules/apiextensions/apiextensions.module.js';
import { ApiregistrationGroup } from './modules/apiregistration/apiregistration.group.js';
import { ApiserverInternalGroup } from './modules/apiserverinternal/apiserverinternal.group.js';
import { AppsGroup } from './modules/apps/apps.group.js';
import { AuthenticationGroup } from './modules/authentication/authentication.group.js';
import { AuthorizationGroup } from './modules/authorization/authorization.group.js';
import { EventsGroup } from './modules/events/events.group.js';
import { FlowcontrolGroup } from './modules/flowcontrol/flowcontrol.group.js';
import { RbacGroup } from './modules/rbac/rbac.group.js';
import { CertificatesGroup } from './modules/certificates/certificates.group.js';
import { AutoscalingGroup } from './modules/autoscaling/autoscaling.group.js';
import { BatchGroup } from './modules/batch/batch.group.js';
import { CoordinationGroup } from './modules/coordination/coordination.group.js';
import { CoreModule } from './modules/core/core.module.js';
import { DiscoveryGroup } from './modules/discovery/discovery.group.js';
import { NetworkingGroup } from './modules/networking/networking.group.js';
import { NodeGroup } from './modules/node/node.group.js';
import { SchedulingGroup } from './modules/scheduling/scheduling.group.js';
import { StorageGroup } from './modules/storage/storage.group.js';
import { StorageMigrationGroup } from './modules/storagemigration/storagemigration.group.js';
import { PolicyGroup } from './modules/policy/policy.group.js';
import { ResourceGroup } from './modules/resource/resource.group.js';
import { PipelineModule } from './assembly/pipeline.module.js';
import { groupModule } from './registry/apis/group.module.js';
import { RegistryModule, serveApiGroups, type RegistryDependencies } from './registry/apis/registry.module.js';

export type GroupModule = Type | DynamicModule;

/** Returns the modules of the built-in API groups. */
function builtInGroups(components: ServerComponents): DynamicModule[] {
  return [
    CoreModule.for(components),
    groupModule(CoordinationGroup),
    groupModule(AppsGroup),
    groupModule(AutoscalingGroup),
    groupModule(BatchGroup),
    groupModule(PolicyGroup),
    groupModule(AdmissionregistrationGroup),
    ApiextensionsModule.for(components),
    groupModule(ApiregistrationGroup),
    groupModule(ApiserverInternalGroup),
    groupModule(AuthenticationGroup, () => new AuthenticationGroup(components.authenticator, components.clock)),
    groupModule(AuthorizationGroup, () => new AuthorizationGroup(components.authorizers)),
    groupModule(EventsGroup),
    groupModule(FlowcontrolGroup),
    groupModule(RbacGroup),
    groupModule(CertificatesGroup),
    groupModule(DiscoveryGroup),
    groupModule(NetworkingGroup),
    groupModule(NodeGroup),
    groupModule(ResourceGroup),
    groupModule(SchedulingGroup),
    groupModule(StorageGroup),
    groupModule(StorageMigrationGroup),
  ];
}

/** Returns the modules of all API groups, and RegistryModule, which registers the resources that they declare. */
function registryModules(components: ServerComponents, otherGroups: readonly GroupModule[]): GroupModule[] {
  return [...builtInGroups(components), ...otherGroups, RegistryModule.for(registryDependencies(components))];
}

function registryDependencies(components: ServerComponents): RegistryDependencies {
  return {
    ...components,
    naming: components.config.naming,
    runtimeConfig: components.config.runtimeConfig,
    lifecycleOf: ({ group, version, kind }) => components.catalog.kindFacts(group, version, kind)?.lifecycle,
  };
}

/**
 * Serves the built-in API groups without an application of Nest, for components beside those of the application: its
 * container of modules would cost each of them a megabyte. Returns a function that ends what the groups follow.
 */
export function serveBuiltInGroups(components: ServerComponents): () => void {
  const providers = builtInGroups(components).flatMap((module) => module.providers as readonly FactoryProvider[]);
  const instances = providers.map(
    ({ useFactory }) => useFactory() as Partial<OnApplicationBootstrap & OnModuleDestroy>,
  );
  serveApiGroups(instances, registryDependencies(components));
  for (const instance of instances) instance.onApplicationBootstrap?.();
  return () => {
    for (const instance of instances) instance.onModuleDestroy?.();
  };
}

/** The server as one Nest module. API groups of an embedding program are added as further modules. */
@Module({})
export class AppModule {
  static for(components: ServerComponents, otherGroups: readonly GroupModule[] = []): DynamicModule {
    return {
      module: AppModule,
      imports: [...registryModules(components, otherGroups), PipelineModule.for(components)],
    };
  }
}

/** The resources without the HTTP pipeline, for commands that read a store and do not serve it. */
@Module({})
export class ResourcesModule {
  static for(components: ServerComponents): DynamicModule {
    return { module: ResourcesModule, imports: registryModules(components, []) };
  }
}

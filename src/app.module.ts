import { Module, type DynamicModule, type Type } from '@nestjs/common';
import type { ServerComponents } from './assembly/components.js';
import { AdmissionregistrationModule } from './modules/admissionregistration/admissionregistration.module.js';
import { ApiextensionsModule } from './modules/apiextensions/apiextensions.module.js';
import { ApiregistrationModule } from './modules/apiregistration/apiregistration.module.js';
import { ApiserverInternalModule } from './modules/apiserverinternal/apiserverinternal.module.js';
import { AppsModule } from './modules/apps/apps.module.js';
import { AuthenticationModule } from './modules/authentication/authentication.module.js';
import { AuthorizationModule } from './modules/authorization/authorization.module.js';
import { EventsModule } from './modules/events/events.module.js';
import { FlowcontrolModule } from './modules/flowcontrol/flowcontrol.module.js';
import { RbacModule } from './modules/rbac/rbac.module.js';
import { CertificatesModule } from './modules/certificates/certificates.module.js';
import { AutoscalingModule } from './modules/autoscaling/autoscaling.module.js';
import { BatchModule } from './modules/batch/batch.module.js';
import { CoordinationModule } from './modules/coordination/coordination.module.js';
import { CoreModule } from './modules/core/core.module.js';
import { EndpointDiscoveryModule } from './modules/discovery/discovery.module.js';
import { NetworkingModule } from './modules/networking/networking.module.js';
import { NodeModule } from './modules/node/node.module.js';
import { SchedulingModule } from './modules/scheduling/scheduling.module.js';
import { StorageModule } from './modules/storage/storage.module.js';
import { StorageMigrationModule } from './modules/storagemigration/storagemigration.module.js';
import { PolicyModule } from './modules/policy/policy.module.js';
import { ResourceModule } from './modules/resource/resource.module.js';
import { PipelineModule } from './assembly/pipeline.module.js';
import { RegistryModule } from './registry/apis/registry.module.js';

export type GroupModule = Type | DynamicModule;

/** Returns the modules of the built-in API groups. */
function builtInGroups(components: ServerComponents): GroupModule[] {
  return [
    CoreModule.for(components),
    CoordinationModule,
    AppsModule,
    AutoscalingModule,
    BatchModule,
    PolicyModule,
    AdmissionregistrationModule,
    ApiextensionsModule.for(components),
    ApiregistrationModule,
    ApiserverInternalModule,
    AuthenticationModule.for(components),
    AuthorizationModule.for(components),
    EventsModule,
    FlowcontrolModule,
    RbacModule,
    CertificatesModule,
    EndpointDiscoveryModule,
    NetworkingModule,
    NodeModule,
    ResourceModule,
    SchedulingModule,
    StorageModule,
    StorageMigrationModule,
  ];
}

/** Returns the modules of all API groups, and RegistryModule, which registers the resources that they declare. */
function registryModules(components: ServerComponents, otherGroups: readonly GroupModule[]): GroupModule[] {
  return [
    ...builtInGroups(components),
    ...otherGroups,
    RegistryModule.for({
      ...components,
      naming: components.config.naming,
      runtimeConfig: components.config.runtimeConfig,
      lifecycleOf: ({ group, version, kind }) => components.catalog.kindFacts(group, version, kind)?.lifecycle,
    }),
  ];
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

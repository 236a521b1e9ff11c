import { Module, type DynamicModule, type Type } from '@nestjs/common';
import type { AppParts } from './assembly/components.js';
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
function builtInGroups(parts: AppParts): GroupModule[] {
  return [
    CoreModule.for(parts),
    CoordinationModule,
    AppsModule,
    AutoscalingModule,
    BatchModule,
    PolicyModule,
    AdmissionregistrationModule,
    ApiextensionsModule.for(parts),
    ApiregistrationModule,
    ApiserverInternalModule,
    AuthenticationModule.for(parts),
    AuthorizationModule.for(parts),
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
function registryModules(parts: AppParts, otherGroups: readonly GroupModule[]): GroupModule[] {
  return [
    ...builtInGroups(parts),
    ...otherGroups,
    RegistryModule.for({
      ...parts,
      naming: parts.config.naming,
      runtimeConfig: parts.config.runtimeConfig,
      lifecycleOf: ({ group, version, kind }) => parts.catalog.kindFacts(group, version, kind)?.lifecycle,
    }),
  ];
}

/** The server as one Nest module. API groups of an embedding program are added as further modules. */
@Module({})
export class AppModule {
  static for(parts: AppParts, otherGroups: readonly GroupModule[] = []): DynamicModule {
    return { module: AppModule, imports: [...registryModules(parts, otherGroups), PipelineModule.for(parts)] };
  }
}

/** The resources without the HTTP pipeline, for commands that read a store and do not serve it. */
@Module({})
export class ResourcesModule {
  static for(parts: AppParts): DynamicModule {
    return { module: ResourcesModule, imports: registryModules(parts, []) };
  }
}

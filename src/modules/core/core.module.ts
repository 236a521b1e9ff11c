import { Module, type DynamicModule } from '@nestjs/common';
import type { AdmissionChain } from '../../admission/admission-chain.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import { CoreGroup } from './core.group.js';

export interface CoreParts {
  readonly registry: ResourceRegistry;
  readonly admission: AdmissionChain;
  /** The group of the options' kinds in messages: `meta.k8s.io`. */
  readonly metaGroup: string;
}

@Module({})
export class CoreModule {
  static for({ registry, admission, metaGroup }: CoreParts): DynamicModule {
    return {
      module: CoreModule,
      providers: [{ provide: CoreGroup, useFactory: () => new CoreGroup(registry, admission, metaGroup) }],
    };
  }
}

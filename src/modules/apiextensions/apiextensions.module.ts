import { Module, type DynamicModule } from '@nestjs/common';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { StoreDependencies } from '../../registry/resource-store.js';
import type { Logger } from '../../std/logger.js';
import { ApiextensionsGroup } from './apiextensions.group.js';
import { apiextensionsVersion } from './apiextensions.resources.js';
import type { ConverterDependencies } from '../../custom-kinds/conversion/webhook-converter.js';
import { CustomKinds } from '../../custom-kinds/custom-kinds.js';

interface ApiextensionsParts {
  readonly registry: ResourceRegistry;
  readonly storeDependencies: StoreDependencies;
  readonly logger: Logger;
  readonly config: { readonly naming: NamingProfile };
  readonly conversion: ConverterDependencies;
}

@Module({})
export class ApiextensionsModule {
  static for(parts: ApiextensionsParts): DynamicModule {
    return {
      module: ApiextensionsModule,
      providers: [
        { provide: ApiextensionsGroup, useFactory: () => new ApiextensionsGroup() },
        { provide: CustomKindsService, useFactory: () => new CustomKindsService(parts) },
      ],
    };
  }
}

/** Starts once all built-in kinds are served. */
class CustomKindsService {
  private end: () => void = () => undefined;

  constructor(private readonly parts: ApiextensionsParts) {}

  onApplicationBootstrap(): void {
    const { registry, config } = this.parts;
    const { group, version } = apiextensionsVersion(config.naming);
    const definitions = registry.find(group, version, 'customresourcedefinitions');
    // CustomResourceDefinitions may be disabled by --runtime-config.
    if (definitions?.type === 'stored') {
      this.end = new CustomKinds({ ...this.parts, definitions: definitions.store }).follow();
    }
  }

  onModuleDestroy(): void {
    this.end();
  }
}

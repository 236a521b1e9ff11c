import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource, type ResourceDefinition } from '../../registry/definition/resource-definition.js';
import { runtimeClassStrategy } from './runtime-class.strategy.js';
import { runtimeClassTable } from './runtime-class.table.js';
import { storedRuntimeClasses } from './stored-versions.js';

export const nodeVersion = (naming: NamingProfile) => ({ group: naming.group('node'), version: 'v1' });

export function nodeResources(naming: NamingProfile): readonly ResourceDefinition[] {
  return [
    defineResource({
      ...nodeVersion(naming),
      kind: 'RuntimeClass',
      plural: 'runtimeclasses',
      namespaced: false,
      strategy: runtimeClassStrategy(naming),
      table: runtimeClassTable,
      allowsUnconditionalUpdate: false,
      storedVersions: storedRuntimeClasses(nodeVersion(naming).group),
    }),
  ];
}

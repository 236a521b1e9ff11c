import type { NamingProfile } from '../../config/naming-profile.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import { defineResource, type ResourceDefinition } from '../../registry/definition/resource-definition.js';
import { flowSchemaStrategy } from './flow-schema.strategy.js';
import { flowSchemaTable } from './flow-schema.table.js';
import { priorityLevelStrategy } from './priority-level.strategy.js';
import { priorityLevelTable } from './priority-level.table.js';
import { storedLevels } from './stored-versions.js';

export const flowcontrolVersion = (naming: NamingProfile) => ({
  group: naming.group('flowcontrol.apiserver'),
  version: 'v1',
});

export function flowcontrolResources(naming: NamingProfile): readonly ResourceDefinition[] {
  const common = {
    ...flowcontrolVersion(naming),
    namespaced: false,
    subresources: { status: statusSubresource({ keepsMetadata: true }) },
    allowsUnconditionalUpdate: false,
  };
  return [
    defineResource({
      ...common,
      kind: 'FlowSchema',
      plural: 'flowschemas',
      strategy: flowSchemaStrategy,
      table: flowSchemaTable,
    }),
    defineResource({
      ...common,
      kind: 'PriorityLevelConfiguration',
      plural: 'prioritylevelconfigurations',
      strategy: priorityLevelStrategy,
      table: priorityLevelTable,
      storedVersions: storedLevels(common.group, naming),
    }),
  ];
}

import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource, type ResourceDefinition } from '../../registry/definition/resource-definition.js';
import { roleBindingStrategy } from './role-binding.strategy.js';
import { roleBindingTable } from './role-binding.table.js';
import { roleStrategy } from './role.strategy.js';
import { defaultTable } from '../../registry/definition/table.js';
import { storedBindings } from './stored-versions.js';

export const rbacVersion = (naming: NamingProfile) => ({ group: naming.group('rbac.authorization'), version: 'v1' });

export function rbacResources(naming: NamingProfile): readonly ResourceDefinition[] {
  const roles = { ...rbacVersion(naming), table: defaultTable, allowsCreateOnUpdate: true };
  const storedVersions = storedBindings(roles.group);
  const bindings = { ...roles, table: roleBindingTable, storedVersions };
  return [
    defineResource({
      ...bindings,
      kind: 'ClusterRoleBinding',
      plural: 'clusterrolebindings',
      namespaced: false,
      strategy: roleBindingStrategy(naming, { namespaced: false }),
    }),
    defineResource({
      ...roles,
      kind: 'ClusterRole',
      plural: 'clusterroles',
      namespaced: false,
      strategy: roleStrategy({ namespaced: false }),
    }),
    defineResource({
      ...bindings,
      kind: 'RoleBinding',
      plural: 'rolebindings',
      namespaced: true,
      strategy: roleBindingStrategy(naming, { namespaced: true }),
    }),
    defineResource({
      ...roles,
      kind: 'Role',
      plural: 'roles',
      namespaced: true,
      strategy: roleStrategy({ namespaced: true }),
    }),
  ];
}

import type { RoleBinding } from '../../catalog/types/rbac.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const roleBindingTable: TableDefinition<RoleBinding> = {
  columns: [
    nameColumn,
    { name: 'Role', type: 'string', description: 'The kind and name of the granted role.' },
    ageColumn,
    { name: 'Users', type: 'string', priority: 1, description: 'The users with the role.' },
    { name: 'Groups', type: 'string', priority: 1, description: 'The groups with the role.' },
    { name: 'ServiceAccounts', type: 'string', priority: 1, description: 'The service accounts with the role.' },
  ],
  cells({ metadata, roleRef = {}, subjects = [] }, { nowMs }) {
    const ofKind = (kind: string) => subjects.filter((subject) => subject.kind === kind);
    const names = (kind: string) => ofKind(kind).map(({ name = '' }) => name);
    const accounts = ofKind('ServiceAccount').map(({ namespace = '', name = '' }) => `${namespace}/${name}`);
    return [
      metadata.name ?? '',
      `${roleRef.kind ?? ''}/${roleRef.name ?? ''}`,
      ageCell(metadata.creationTimestamp, nowMs),
      names('User').join(', '),
      names('Group').join(', '),
      accounts.join(', '),
    ];
  },
};

import { asFields, asItems, asText } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const roleBindingTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Role', type: 'string', description: 'The kind and name of the role that it grants.' },
    ageColumn,
    { name: 'Users', type: 'string', priority: 1, description: 'Users who have the role.' },
    { name: 'Groups', type: 'string', priority: 1, description: 'Groups whose members have the role.' },
    { name: 'ServiceAccounts', type: 'string', priority: 1, description: 'Service accounts that have the role.' },
  ],
  cells(binding, { nowMs }) {
    const { kind, name } = asFields(binding['roleRef']);
    const subjects = asItems(binding['subjects']);
    const of = (wanted: string) => subjects.filter((subject) => subject['kind'] === wanted);
    const names = (wanted: string) => of(wanted).map((subject) => asText(subject['name']));
    const accounts = of('ServiceAccount').map((it) => `${asText(it['namespace'])}/${asText(it['name'])}`);
    return [
      binding.metadata.name ?? '',
      `${asText(kind)}/${asText(name)}`,
      ageCell(binding.metadata.creationTimestamp, nowMs),
      names('User').join(', '),
      names('Group').join(', '),
      accounts.join(', '),
    ];
  },
};

import { asFields, asText, isSet } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const ingressClassTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Controller', type: 'string', description: 'Who serves the ingresses of this class.' },
    { name: 'Parameters', type: 'string', description: 'The object with further settings of the controller.' },
    ageColumn,
  ],
  cells(ingressClass, { nowMs }) {
    const spec = asFields(ingressClass['spec']);
    return [
      ingressClass.metadata.name ?? '',
      asText(spec['controller']),
      parametersCell(spec['parameters']),
      ageCell(ingressClass.metadata.creationTimestamp, nowMs),
    ];
  },
};

/** `Kind.group/name` */
function parametersCell(parameters: unknown): string {
  if (!isSet(parameters)) return '<none>';
  const { apiGroup, kind, name } = asFields(parameters);
  return `${asText(kind)}${isSet(apiGroup) ? `.${asText(apiGroup)}` : ''}/${asText(name)}`;
}

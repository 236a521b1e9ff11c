import type { IngressClass, IngressClassParametersReference } from '../../catalog/types/networking.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const ingressClassTable: TableDefinition<IngressClass> = {
  columns: [
    nameColumn,
    { name: 'Controller', type: 'string', description: 'Controller that implements ingresses of this class.' },
    { name: 'Parameters', type: 'string', description: 'Object with additional configuration of the controller.' },
    ageColumn,
  ],
  cells(ingressClass, { nowMs }) {
    const { controller = '', parameters } = ingressClass.spec ?? {};
    return [
      ingressClass.metadata.name ?? '',
      controller,
      parametersCell(parameters),
      ageCell(ingressClass.metadata.creationTimestamp, nowMs),
    ];
  },
};

/** Formats a reference as `Kind.group/name`. */
function parametersCell(parameters: IngressClassParametersReference | undefined): string {
  if (!parameters) return '<none>';
  const { apiGroup, kind = '', name = '' } = parameters;
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`;
}

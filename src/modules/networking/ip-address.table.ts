import type { IPAddress, ParentReference } from '../../catalog/types/networking.v1.js';
import { ageCell, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

/** kube-apiserver has a third cell, the age, without a column; so has this table. */
export const ipAddressTable: TableDefinition<IPAddress> = {
  columns: [nameColumn, { name: 'ParentRef', type: 'string', description: 'Object that uses the address.' }],
  cells: ({ metadata, spec }, { nowMs }) => [
    metadata.name ?? '',
    parentCell(spec?.parentRef),
    ageCell(metadata.creationTimestamp, nowMs),
  ],
};

/** Formats a reference as `resource.group/namespace/name`. */
function parentCell(parent: ParentReference | undefined): string {
  if (!parent) return '<none>';
  const { group = '', resource = '', namespace = '', name = '' } = parent;
  const qualified = [resource, group].filter((part) => part !== '').join('.');
  return [qualified, namespace, name].filter((part) => part !== '').join('/');
}

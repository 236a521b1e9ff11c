import { asFields, asText, isSet } from '../../machinery/fields.js';
import { ageCell, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

/** Clients know a third cell, the age, that no column tells of. */
export const ipAddressTable: TableDefinition = {
  columns: [nameColumn, { name: 'ParentRef', type: 'string', description: 'The object that has the address.' }],
  cells: (address, { nowMs }) => [
    address.metadata.name ?? '',
    parentCell(asFields(address['spec'])['parentRef']),
    ageCell(address.metadata.creationTimestamp, nowMs),
  ],
};

/** `resource.group/namespace/name` */
function parentCell(parent: unknown): string {
  if (!isSet(parent)) return '<none>';
  const { group, resource, namespace, name } = asFields(parent);
  const qualified = [asText(resource), asText(group)].filter((part) => part !== '').join('.');
  return [qualified, asText(namespace), asText(name)].filter((part) => part !== '').join('/');
}

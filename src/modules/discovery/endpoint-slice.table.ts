import { asItems, asText, asTexts } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/table.js';

export const endpointSliceTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'AddressType', type: 'string', description: 'What its addresses are.' },
    { name: 'Ports', type: 'string', description: 'The first of the ports that every endpoint has.' },
    { name: 'Endpoints', type: 'string', description: 'The first of its addresses.' },
    ageColumn,
  ],
  cells: (slice, { nowMs }) => [
    slice.metadata.name ?? '',
    asText(slice['addressType']),
    firstOf(
      asItems(slice['ports']).map(({ port, name }) => (typeof port === 'number' ? `${port}` : asText(name) || '*')),
    ),
    firstOf(asItems(slice['endpoints']).flatMap(({ addresses }) => asTexts(addresses))),
    ageCell(slice.metadata.creationTimestamp, nowMs),
  ],
};

const shownMax = 3;

function firstOf(all: readonly string[]): string {
  if (all.length === 0) return '<unset>';
  const shown = all.slice(0, shownMax).join(',');
  return all.length > shownMax ? `${shown} + ${all.length - shownMax} more...` : shown;
}

import type { Endpoints } from '../../catalog/types/core.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { orNone } from './cells.js';

export const endpointsTable: TableDefinition<Endpoints> = {
  columns: [
    nameColumn,
    { name: 'Endpoints', type: 'string', description: 'First of the ready addresses, with their ports.' },
    ageColumn,
  ],
  cells: (endpoints, { nowMs }) => [
    endpoints.metadata.name ?? '',
    addressesCell(endpoints),
    ageCell(endpoints.metadata.creationTimestamp, nowMs),
  ],
};

const shownMax = 3;

/** Returns the first ready addresses for each port, and the number of the others. */
function addressesCell({ subsets = [] }: Endpoints): string {
  const shown: string[] = [];
  let count = 0;
  for (const { ports = [], addresses = [] } of subsets) {
    const suffixes = ports.length === 0 ? [''] : ports.map(({ port = 0 }) => `:${port}`);
    for (const suffix of suffixes) {
      for (const { ip = '' } of addresses) {
        count++;
        if (shown.length < shownMax) shown.push(suffix === '' ? ip : joinPort(ip, suffix));
      }
    }
  }
  const more = count - shown.length;
  return orNone(more > 0 ? `${shown.join(',')} + ${more} more...` : shown.join(','));
}

const joinPort = (address: string, suffix: string): string =>
  address.includes(':') ? `[${address}]${suffix}` : address + suffix;

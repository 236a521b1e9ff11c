import { asItems, asNumber, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { orNone } from './cells.js';

export const endpointsTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Endpoints', type: 'string', description: 'The first of its addresses, with ports.' },
    ageColumn,
  ],
  cells: (endpoints, { nowMs }) => [
    endpoints.metadata.name ?? '',
    addressesCell(endpoints),
    ageCell(endpoints.metadata.creationTimestamp, nowMs),
  ],
};

const shownMax = 3;

/** The ready addresses, port by port; those beyond the first few are only counted. */
function addressesCell(endpoints: KubeObject): string {
  const shown: string[] = [];
  let count = 0;
  for (const subset of asItems(endpoints['subsets'])) {
    const ports = asItems(subset['ports']);
    const addresses = asItems(subset['addresses']).map((address) => asText(address['ip']));
    const suffixes = ports.length === 0 ? [''] : ports.map((port) => `:${asNumber(port['port'])}`);
    for (const suffix of suffixes) {
      for (const address of addresses) {
        count++;
        if (shown.length < shownMax) shown.push(suffix === '' ? address : joinPort(address, suffix));
      }
    }
  }
  const more = count - shown.length;
  return orNone(more > 0 ? `${shown.join(',')} + ${more} more...` : shown.join(','));
}

const joinPort = (address: string, suffix: string): string =>
  address.includes(':') ? `[${address}]${suffix}` : address + suffix;

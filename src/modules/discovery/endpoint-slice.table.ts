import type { EndpointSlice } from '../../catalog/types/discovery.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const endpointSliceTable: TableDefinition<EndpointSlice> = {
  columns: [
    nameColumn,
    { name: 'AddressType', type: 'string', description: 'Type of the addresses: IPv4, IPv6 or FQDN.' },
    { name: 'Ports', type: 'string', description: 'First of the ports of every endpoint.' },
    { name: 'Endpoints', type: 'string', description: 'First of the addresses of the endpoints.' },
    ageColumn,
  ],
  cells: (slice, { nowMs }) => [
    slice.metadata.name ?? '',
    slice.addressType ?? '',
    firstOf((slice.ports ?? []).map(({ port, name }) => (port === undefined ? name || '*' : `${port}`))),
    firstOf((slice.endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
    ageCell(slice.metadata.creationTimestamp, nowMs),
  ],
};

const shownMax = 3;

function firstOf(all: readonly string[]): string {
  if (all.length === 0) return '<unset>';
  const shown = all.slice(0, shownMax).join(',');
  return all.length > shownMax ? `${shown} + ${all.length - shownMax} more...` : shown;
}

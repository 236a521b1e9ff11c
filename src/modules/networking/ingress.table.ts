import { asFields, asItems, asText } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { orNone } from '../core/cells.js';

export const ingressTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Class', type: 'string', description: 'The class whose controller serves it.' },
    { name: 'Hosts', type: 'string', description: 'The first of the hosts that it has rules for.' },
    { name: 'Address', type: 'string', description: 'Where the world outside reaches it.' },
    { name: 'Ports', type: 'string', description: 'The ports that it listens on.' },
    ageColumn,
  ],
  cells(ingress, { nowMs }) {
    const spec = asFields(ingress['spec']);
    return [
      ingress.metadata.name ?? '',
      orNone(asText(spec['ingressClassName'])),
      hostsCell(asItems(spec['rules']).map((rule) => asText(rule['host']))),
      addressCell(asFields(asFields(ingress['status'])['loadBalancer'])['ingress']),
      asItems(spec['tls']).length > 0 ? '80, 443' : '80',
      ageCell(ingress.metadata.creationTimestamp, nowMs),
    ];
  },
};

const hostsShownMax = 3;

/** A rule without a host is for every host. */
function hostsCell(hosts: readonly string[]): string {
  const named = hosts.filter((host) => host !== '');
  if (named.length === 0) return '*';
  const shown = named.slice(0, hostsShownMax).join(',');
  return named.length > hostsShownMax ? `${shown} + ${hosts.length - hostsShownMax} more...` : shown;
}

function addressCell(ingress: unknown): string {
  const addresses = asItems(ingress).map((point) => asText(point['ip']) || asText(point['hostname']));
  return [...new Set(addresses.filter((address) => address !== ''))].sort().join(',');
}

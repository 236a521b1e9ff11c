import type { Ingress, IngressLoadBalancerIngress } from '../../catalog/types/networking.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { orNone } from '../core/cells.js';

export const ingressTable: TableDefinition<Ingress> = {
  columns: [
    nameColumn,
    { name: 'Class', type: 'string', description: 'IngressClass of the ingress.' },
    { name: 'Hosts', type: 'string', description: 'First of the hosts that the rules are for; * for all hosts.' },
    { name: 'Address', type: 'string', description: 'IP addresses and host names of the load balancer.' },
    { name: 'Ports', type: 'string', description: '80, and 443 if the ingress has TLS.' },
    ageColumn,
  ],
  cells(ingress, { nowMs }) {
    const { rules = [], tls = [], ingressClassName = '' } = ingress.spec ?? {};
    return [
      ingress.metadata.name ?? '',
      orNone(ingressClassName),
      hostsCell(rules.map(({ host = '' }) => host)),
      addressCell(ingress.status?.loadBalancer?.ingress),
      tls.length > 0 ? '80, 443' : '80',
      ageCell(ingress.metadata.creationTimestamp, nowMs),
    ];
  },
};

const hostsShownMax = 3;

/** Returns the first hosts, and the number of the others; `*` if no rule has a host. */
function hostsCell(hosts: readonly string[]): string {
  const named = hosts.filter((host) => host !== '');
  if (named.length === 0) return '*';
  const shown = named.slice(0, hostsShownMax).join(',');
  return named.length > hostsShownMax ? `${shown} + ${hosts.length - hostsShownMax} more...` : shown;
}

function addressCell(ingress: readonly IngressLoadBalancerIngress[] = []): string {
  const addresses = ingress.map(({ ip, hostname = '' }) => ip || hostname);
  return [...new Set(addresses.filter((address) => address !== ''))].sort().join(',');
}

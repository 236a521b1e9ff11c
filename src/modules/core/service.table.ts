import type { Service, ServicePort } from '../../catalog/types/core.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { labelsCell, orNone } from './cells.js';

export const serviceTable: TableDefinition<Service> = {
  columns: [
    nameColumn,
    { name: 'Type', type: 'string', description: 'ClusterIP, NodePort, LoadBalancer or ExternalName.' },
    { name: 'Cluster-IP', type: 'string', description: 'First IP address of the service inside the cluster.' },
    {
      name: 'External-IP',
      type: 'string',
      description: 'Addresses outside the cluster: external IPs, those of the load balancer, or the external name.',
    },
    { name: 'Port(s)', type: 'string', description: 'Ports of the service, with their node ports and protocols.' },
    ageColumn,
    { name: 'Selector', type: 'string', priority: 1, description: 'Labels of the pods that get the traffic.' },
  ],
  cells(service, { nowMs }) {
    const { spec = {}, metadata } = service;
    return [
      metadata.name ?? '',
      spec.type ?? '',
      orNone(spec.clusterIPs?.[0] ?? ''),
      externalAddresses(service),
      orNone((spec.ports ?? []).map(portText).join(',')),
      ageCell(metadata.creationTimestamp, nowMs),
      labelsCell(spec.selector),
    ];
  },
};

function externalAddresses({ spec = {}, status = {} }: Service): string {
  const { type, externalName = '', externalIPs = [] } = spec;
  switch (type) {
    case 'ExternalName':
      return externalName;
    case 'ClusterIP':
    case 'NodePort':
      return orNone(externalIPs.join(','));
    case 'LoadBalancer': {
      const ingress = (status.loadBalancer?.ingress ?? []).map(({ ip, hostname = '' }) => ip || hostname);
      const balanced = [...new Set(ingress.filter((address) => address !== ''))].sort();
      return [...balanced, ...externalIPs].join(',') || '<pending>';
    }
    default:
      return '<unknown>';
  }
}

function portText({ port = 0, nodePort = 0, protocol = '' }: ServicePort): string {
  return `${port}${nodePort > 0 ? `:${nodePort}` : ''}/${protocol}`;
}

import { asFields, asItems, asNumber, asText, asTexts, type Fields } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { labelsCell, orNone } from './cells.js';

export const serviceTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Type', type: 'string', description: 'How it can be reached.' },
    { name: 'Cluster-IP', type: 'string', description: 'Its address inside the cluster.' },
    { name: 'External-IP', type: 'string', description: 'Its addresses for the world outside.' },
    { name: 'Port(s)', type: 'string', description: 'Its ports, with those of the nodes where it has any.' },
    ageColumn,
    { name: 'Selector', type: 'string', priority: 1, description: 'The labels of the pods behind it.' },
  ],
  cells(service, { nowMs }) {
    const spec = asFields(service['spec']);
    return [
      service.metadata.name ?? '',
      asText(spec['type']),
      orNone(asTexts(spec['clusterIPs'])[0] ?? ''),
      externalAddresses(spec, asFields(service['status'])),
      orNone(asItems(spec['ports']).map(portText).join(',')),
      ageCell(service.metadata.creationTimestamp, nowMs),
      labelsCell(spec['selector']),
    ];
  },
};

function externalAddresses(spec: Fields, status: Fields): string {
  const given = asTexts(spec['externalIPs']);
  switch (spec['type']) {
    case 'ExternalName':
      return asText(spec['externalName']);
    case 'ClusterIP':
    case 'NodePort':
      return orNone(given.join(','));
    case 'LoadBalancer': {
      const ingress = asItems(asFields(status['loadBalancer'])['ingress']).map(
        (it) => asText(it['ip']) || asText(it['hostname']),
      );
      const balanced = [...new Set(ingress.filter((address) => address !== ''))].sort();
      return [...balanced, ...given].join(',') || '<pending>';
    }
    default:
      return '<unknown>';
  }
}

function portText(port: Fields): string {
  const nodePort = asNumber(port['nodePort']);
  return `${asNumber(port['port'])}${nodePort > 0 ? `:${nodePort}` : ''}/${asText(port['protocol'])}`;
}

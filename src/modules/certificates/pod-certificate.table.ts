import { asFields, asItems, asText } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { outcomes } from './pod-certificate.status.validation.js';

export const podCertificateTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'PodName', type: 'string', description: 'The pod that the certificate is for.' },
    { name: 'ServiceAccountName', type: 'string', description: 'The account that the pod runs as.' },
    { name: 'NodeName', type: 'string', description: 'The node that the pod runs on.' },
    { name: 'SignerName', type: 'string', description: 'Who is asked to sign.' },
    { name: 'State', type: 'string', description: 'What became of it.' },
    ageColumn,
  ],
  cells(request, { nowMs }) {
    const spec = asFields(request['spec']);
    const types = asItems(asFields(request['status'])['conditions']).map((condition) => asText(condition['type']));
    return [
      request.metadata.name ?? '',
      ...['podName', 'serviceAccountName', 'nodeName', 'signerName'].map((field) => asText(spec[field])),
      types.find((type) => outcomes.includes(type)) ?? 'Pending',
      ageCell(request.metadata.creationTimestamp, nowMs),
    ];
  },
};

import type { PodCertificateRequest } from '../../catalog/types/certificates.v1beta1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { outcomes } from './pod-certificate.status.validation.js';

export const podCertificateTable: TableDefinition<PodCertificateRequest> = {
  columns: [
    nameColumn,
    { name: 'PodName', type: 'string', description: 'The Pod of the certificate.' },
    { name: 'ServiceAccountName', type: 'string', description: 'The ServiceAccount of the Pod.' },
    { name: 'NodeName', type: 'string', description: 'The node of the Pod.' },
    { name: 'SignerName', type: 'string', description: 'The requested signer.' },
    { name: 'State', type: 'string', description: 'The outcome: Pending, Issued, Denied or Failed.' },
    ageColumn,
  ],
  cells({ metadata, spec = {}, status = {} }, { nowMs }) {
    const types = (status.conditions ?? []).map(({ type = '' }) => type);
    return [
      metadata.name ?? '',
      spec.podName ?? '',
      spec.serviceAccountName ?? '',
      spec.nodeName ?? '',
      spec.signerName ?? '',
      types.find((type) => outcomes.includes(type)) ?? 'Pending',
      ageCell(metadata.creationTimestamp, nowMs),
    ];
  },
};

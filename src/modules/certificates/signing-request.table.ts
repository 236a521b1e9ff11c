import type {
  CertificateSigningRequest,
  CertificateSigningRequestStatus,
} from '../../catalog/types/certificates.v1.js';
import {
  ageCell,
  ageColumn,
  humanDuration,
  nameColumn,
  type TableDefinition,
} from '../../registry/definition/table.js';
import { orNone } from '../core/cells.js';

export const signingRequestTable: TableDefinition<CertificateSigningRequest> = {
  columns: [
    nameColumn,
    ageColumn,
    { name: 'SignerName', type: 'string', description: 'The requested signer.' },
    { name: 'Requestor', type: 'string', description: 'The user who created the request.' },
    { name: 'RequestedDuration', type: 'string', description: 'The requested lifetime of the certificate.' },
    { name: 'Condition', type: 'string', description: 'The state: Pending, Approved or Denied, Failed, Issued.' },
  ],
  cells({ metadata, spec = {}, status = {} }, { nowMs }) {
    const { signerName = '', username = '', expirationSeconds: seconds } = spec;
    return [
      metadata.name ?? '',
      ageCell(metadata.creationTimestamp, nowMs),
      orNone(signerName),
      username,
      seconds === undefined ? '<none>' : humanDuration(seconds * 1000),
      conditionCell(status),
    ];
  },
};

function conditionCell({ conditions = [], certificate }: CertificateSigningRequestStatus): string {
  const types = new Set(conditions.map(({ type }) => type));
  const decision = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  return [decision, ...(types.has('Failed') ? ['Failed'] : []), ...(certificate ? ['Issued'] : [])].join(',');
}

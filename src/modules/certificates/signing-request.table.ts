import { asFields, asItems, asText, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import {
  ageCell,
  ageColumn,
  humanDuration,
  nameColumn,
  type TableDefinition,
} from '../../registry/definition/table.js';
import { orNone } from '../core/cells.js';

export const signingRequestTable: TableDefinition = {
  columns: [
    nameColumn,
    ageColumn,
    { name: 'SignerName', type: 'string', description: 'Who is asked to sign.' },
    { name: 'Requestor', type: 'string', description: 'Who asks.' },
    { name: 'RequestedDuration', type: 'string', description: 'How long the certificate should be valid.' },
    { name: 'Condition', type: 'string', description: 'What became of it.' },
  ],
  cells(request, { nowMs }) {
    const spec = asFields(request['spec']);
    const { expirationSeconds: seconds } = spec;
    return [
      request.metadata.name ?? '',
      ageCell(request.metadata.creationTimestamp, nowMs),
      orNone(asText(spec['signerName'])),
      asText(spec['username']),
      isSet(seconds) ? humanDuration(Number(seconds) * 1000) : '<none>',
      conditionCell(request),
    ];
  },
};

function conditionCell(request: KubeObject): string {
  const { conditions, certificate } = asFields(request['status']);
  const types = new Set(asItems(conditions).map((condition) => asText(condition['type'])));
  const decision = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  return [decision, ...(types.has('Failed') ? ['Failed'] : []), ...(asText(certificate) === '' ? [] : ['Issued'])].join(
    ',',
  );
}

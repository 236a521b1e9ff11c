import type { Node } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { orNone, orUnknown } from './cells.js';

export function nodeTable(naming: NamingProfile): TableDefinition<Node> {
  const rolePrefix = naming.label('', 'node-role');
  const roleLabel = naming.label('role');

  /** Returns the roles in the labels: `node-role.kubernetes.io/ROLE`, or the value of the older `kubernetes.io/role`. */
  const roles = ({ metadata: { labels = {} } }: Node): string => {
    const found = new Set<string>();
    for (const [key, value] of Object.entries(labels)) {
      if (key.startsWith(rolePrefix) && key.length > rolePrefix.length) found.add(key.slice(rolePrefix.length));
      else if (key === roleLabel && value !== '') found.add(value);
    }
    return orNone([...found].sort().join(','));
  };

  return {
    columns: [
      nameColumn,
      {
        name: 'Status',
        type: 'string',
        description: 'Ready, NotReady or Unknown, with SchedulingDisabled if the node is cordoned.',
      },
      { name: 'Roles', type: 'string', description: 'Roles of the node, from its labels.' },
      ageColumn,
      { name: 'Version', type: 'string', description: 'Version of the kubelet.' },
      { name: 'Internal-IP', type: 'string', priority: 1, description: 'IP address inside the cluster.' },
      { name: 'External-IP', type: 'string', priority: 1, description: 'IP address outside the cluster.' },
      { name: 'OS-Image', type: 'string', priority: 1, description: 'Operating system of the node.' },
      {
        name: 'Kernel-Version',
        type: 'string',
        priority: 1,
        description: 'Version of the kernel, and the processor architecture.',
      },
      { name: 'Container-Runtime', type: 'string', priority: 1, description: 'Container runtime and its version.' },
    ],
    cells(node, { nowMs }) {
      const { addresses = [], nodeInfo: info = {} } = node.status ?? {};
      const addressOf = (type: string) => orNone(addresses.find((it) => it.type === type)?.address ?? '');
      const kernel = orUnknown(info.kernelVersion ?? '');
      return [
        node.metadata.name ?? '',
        readiness(node),
        roles(node),
        ageCell(node.metadata.creationTimestamp, nowMs),
        info.kubeletVersion ?? '',
        addressOf('InternalIP'),
        addressOf('ExternalIP'),
        orUnknown(info.osImage ?? ''),
        info.architecture ? `${kernel} (${info.architecture})` : kernel,
        orUnknown(info.containerRuntimeVersion ?? ''),
      ];
    },
  };
}

function readiness({ spec = {}, status = {} }: Node): string {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  const word = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec.unschedulable ? `${word},SchedulingDisabled` : word;
}

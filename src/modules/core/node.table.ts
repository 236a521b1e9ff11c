import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asItems, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { orNone, orUnknown } from './cells.js';

export function nodeTable(naming: NamingProfile): TableDefinition {
  const rolePrefix = naming.label('', 'node-role');
  const roleLabel = naming.label('role');

  /** A role is the end of a label's key, or the value of the older label. */
  const roles = (node: KubeObject): string => {
    const found = new Set<string>();
    for (const [key, value] of Object.entries(node.metadata.labels ?? {})) {
      if (key.startsWith(rolePrefix) && key.length > rolePrefix.length) found.add(key.slice(rolePrefix.length));
      else if (key === roleLabel && value !== '') found.add(value);
    }
    return orNone([...found].sort().join(','));
  };

  return {
    columns: [
      nameColumn,
      { name: 'Status', type: 'string', description: 'Whether it is ready, and whether pods may be scheduled to it.' },
      { name: 'Roles', type: 'string', description: 'What it is for, as its labels tell.' },
      ageColumn,
      { name: 'Version', type: 'string', description: 'The version of its agent.' },
      { name: 'Internal-IP', type: 'string', priority: 1, description: 'Its address inside the cluster.' },
      { name: 'External-IP', type: 'string', priority: 1, description: 'Its address for the world outside.' },
      { name: 'OS-Image', type: 'string', priority: 1, description: 'The operating system it runs.' },
      {
        name: 'Kernel-Version',
        type: 'string',
        priority: 1,
        description: 'The kernel it runs, and for which processor.',
      },
      { name: 'Container-Runtime', type: 'string', priority: 1, description: 'What runs its containers.' },
    ],
    cells(node, { nowMs }) {
      const status = asFields(node['status']);
      const info = asFields(status['nodeInfo']);
      const addresses = asItems(status['addresses']);
      const address = (type: string) => orNone(asText(addresses.find((it) => it['type'] === type)?.['address']));
      const kernel = orUnknown(asText(info['kernelVersion']));
      const architecture = asText(info['architecture']);
      return [
        node.metadata.name ?? '',
        readiness(node),
        roles(node),
        ageCell(node.metadata.creationTimestamp, nowMs),
        asText(info['kubeletVersion']),
        address('InternalIP'),
        address('ExternalIP'),
        orUnknown(asText(info['osImage'])),
        architecture === '' ? kernel : `${kernel} (${architecture})`,
        orUnknown(asText(info['containerRuntimeVersion'])),
      ];
    },
  };
}

function readiness(node: KubeObject): string {
  const ready = asItems(asFields(node['status'])['conditions']).find((condition) => condition['type'] === 'Ready');
  const word = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return asFields(node['spec'])['unschedulable'] === true ? `${word},SchedulingDisabled` : word;
}

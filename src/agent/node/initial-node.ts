import type { Node, NodeStatus } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { HostFacts } from './host-facts.js';
import type { NodeSettings } from './node-settings.js';

type Labels = Readonly<Record<string, string>>;

/** Returns the Node that is registered. */
export function initialNode(settings: NodeSettings, facts: HostFacts, status: NodeStatus): Node {
  const { nodeName, labels, taints, providerId, isSchedulable, naming } = settings;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName,
      labels: { ...defaultLabels(settings, facts), ...labels },
      annotations: { [attachAnnotation(naming)]: 'true' },
    },
    spec: {
      ...(taints.length > 0 && { taints }),
      ...(providerId !== '' && { providerID: providerId }),
      ...(!isSchedulable && { unschedulable: true }),
    },
    status,
  };
}

function defaultLabels({ hostname, naming }: NodeSettings, facts: HostFacts): Labels {
  return {
    [naming.label('os', 'beta')]: facts.operatingSystem,
    [naming.label('arch', 'beta')]: facts.architecture,
    [naming.label('hostname')]: hostname,
    [naming.label('os')]: facts.operatingSystem,
    [naming.label('arch')]: facts.architecture,
  };
}

/** Annotation by which the attach-detach controller attaches volumes of the Node. */
function attachAnnotation(naming: NamingProfile): string {
  return naming.label('controller-managed-attach-detach', 'volumes');
}

/**
 * Returns the metadata that a Node of an earlier start needs: the labels of the machine, zone and region, and the
 * annotation. Other labels of --node-labels and taints only apply to a new Node, since an administrator may have changed
 * them.
 */
export function metadataChanges(wanted: Node, existing: Node, naming: NamingProfile) {
  const reconciled = new Set([
    ...['hostname', 'os', 'arch'].map((name) => naming.label(name)),
    ...['os', 'arch', 'instance-type'].map((name) => naming.label(name, 'beta')),
    naming.label('instance-type', 'node'),
    ...['zone', 'region'].flatMap((name) => [
      naming.label(name, 'topology'),
      naming.label(name, 'failure-domain.beta'),
    ]),
  ]);
  const labels = changes(wanted.metadata.labels, existing.metadata.labels, (name) => reconciled.has(name));
  const annotations = changes(wanted.metadata.annotations, existing.metadata.annotations, () => true);
  if (!labels && !annotations) return undefined;
  return { metadata: { ...(labels && { labels }), ...(annotations && { annotations }) } };
}

function changes(wanted: Labels = {}, existing: Labels = {}, isReconciled: (name: string) => boolean) {
  const changed = Object.entries(wanted).filter(
    ([name, value]) => isReconciled(name) && !(Object.hasOwn(existing, name) && existing[name] === value),
  );
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

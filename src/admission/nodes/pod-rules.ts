import type { Pod } from '../../catalog/types/core.v1.js';
import { goQuote } from '../../machinery/field-error.js';
import { semanticEqual } from '../../machinery/semantic-equal.js';
import type { AdmissionAttributes } from '../admission-plugin.js';
import { find } from '../object-reader.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import { isMirrorPod } from '../../pods/containers.js';
import { ownerProblem, referencedKind } from './mirror-pod.js';
import { changedLabels } from './node-labels.js';
import type { NodeRule } from './node-rule.js';

const pods = { group: '', resource: 'pods' };
const nodes = { group: '', resource: 'nodes' };

/** Returns the rules for Pods by path: nodes create mirror Pods, and change, evict and delete Pods that run on them. */
export function podRules(dependencies: PluginDependencies): Readonly<Record<string, NodeRule>> {
  return {
    '/pods': async (attributes, node) => {
      const { operation, name, old } = attributes;
      if (operation === 'CREATE') return mirrorPodProblem(dependencies, attributes, node);
      if (operation === 'DELETE') {
        return scheduleProblem(node, old ?? (await findPod(dependencies, attributes, name)), 'delete');
      }
      return `unexpected operation ${goQuote(operation)}, node ${goQuote(node)} can only create and delete mirror pods`;
    },
    '/pods/status': podStatusProblem,
    '/pods/eviction': async (attributes, node) =>
      scheduleProblem(node, await findPod(dependencies, attributes, attributes.name), 'evict'),
  };
}

export function findPod(
  { objects }: PluginDependencies,
  { namespace, request }: AdmissionAttributes,
  name: string,
): Promise<Pod | undefined> {
  return find(objects, pods, namespace, name, request.signal);
}

/** Returns the error if the Pod exists and is not scheduled to the node. */
function scheduleProblem(node: string, pod: Pod | undefined, what: string): string | undefined {
  return !pod || pod.spec?.nodeName === node
    ? undefined
    : `node ${goQuote(node)} can only ${what} pods with spec.nodeName set to itself`;
}

function podStatusProblem(attributes: AdmissionAttributes, node: string): string | undefined {
  const { operation } = attributes;
  if (operation !== 'UPDATE') return `unexpected operation ${goQuote(operation)}`;
  const pod: Pod | undefined = attributes.object;
  const old: Pod | undefined = attributes.old;
  const refused = scheduleProblem(node, old, 'update pod status for');
  if (refused !== undefined) return refused;
  if (changedLabels(pod?.metadata.labels, old?.metadata.labels).length > 0)
    return `node ${goQuote(node)} cannot update labels through pod status`;
  if (!semanticEqual(pod?.status?.resourceClaimStatuses, old?.status?.resourceClaimStatuses))
    return `node ${goQuote(node)} cannot update resource claim statues`;
  if (!semanticEqual(pod?.status?.extendedResourceClaimStatus, old?.status?.extendedResourceClaimStatus))
    return `node ${goQuote(node)} cannot update extended resource claim status`;
  return undefined;
}

async function mirrorPodProblem(
  { objects, naming }: PluginDependencies,
  attributes: AdmissionAttributes,
  node: string,
): Promise<string | undefined> {
  const mirrorAnnotation = naming.label('config.mirror');
  const pod: Pod = attributes.object!;
  const { spec = {} } = pod;
  if (!isMirrorPod(pod, mirrorAnnotation))
    return `pod does not have ${goQuote(mirrorAnnotation)} annotation, node ${goQuote(node)} can only create mirror pods`;
  const refused = scheduleProblem(node, pod, 'create');
  if (refused !== undefined) return refused;
  const problem = ownerProblem(pod, node);
  if (problem !== undefined) return problem;
  const found = await find(objects, nodes, '', node, attributes.request.signal);
  const owner = pod.metadata.ownerReferences![0]!;
  if (found?.metadata.uid !== owner.uid)
    return `node ${node} UID mismatch: expected ${owner.uid} got ${found?.metadata.uid ?? ''}`;
  if ((spec.ephemeralContainers ?? []).length > 0)
    return `node ${goQuote(node)} can not create pods with ephemeral containers`;
  const kind = referencedKind(spec);
  return kind === undefined ? undefined : `node ${goQuote(node)} can not create pods that reference ${kind}`;
}

import type { TokenRequest } from '../../catalog/types/authentication.v1.js';
import type { Node, PersistentVolumeClaim, Pod } from '../../catalog/types/core.v1.js';
import type { ResourceSlice } from '../../catalog/types/resource.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { goQuote } from '../../machinery/field-error.js';
import { semanticEqual } from '../../machinery/semantic-equal.js';
import { defineAdmissionPlugin, type AdmissionAttributes, type AdmissionHooks } from '../admission-plugin.js';
import { nodeOf } from '../nodes/node-identity.js';
import { certificateRequestProblem, podCertificateRequestProblem } from '../nodes/node-certificates.js';
import { ownerProblem, referencedKind } from '../nodes/mirror-pod.js';
import { changedLabels, foreignLabels } from '../nodes/node-labels.js';
import { audienceProblem } from '../nodes/token-audience.js';
import { find } from '../object-reader.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import { isMirrorPod } from '../pods/containers.js';
import { forbid } from '../refusal.js';

/** Checks a write by the user of a node. Returns the error if it is refused. */
type Rule = (attributes: AdmissionAttributes, node: string) => string | undefined | Promise<string | undefined>;

const pods = { group: '', resource: 'pods' };
const nodes = { group: '', resource: 'nodes' };

/** Limits kubelets to writes about their own Node and the Pods that are scheduled to it. */
export const nodeRestriction = defineAdmissionPlugin({
  name: 'NodeRestriction',
  runs: 'if enabled',
  make: makeNodeRestriction,
});

function makeNodeRestriction(dependencies: PluginDependencies): AdmissionHooks {
  const { objects, naming, featureGates } = dependencies;
  const mirrorAnnotation = naming.label('config.mirror');
  const leaseNamespace = naming.systemNamespace('node-lease');

  const findPod = ({ namespace, request }: AdmissionAttributes, name: string): Promise<Pod | undefined> =>
    find(objects, pods, namespace, name, request.signal);

  /** Returns the error if the Pod exists and is not scheduled to the node. */
  const scheduleProblem = (node: string, pod: Pod | undefined, what: string): string | undefined =>
    !pod || pod.spec?.nodeName === node
      ? undefined
      : `node ${goQuote(node)} can only ${what} pods with spec.nodeName set to itself`;

  const rules: Readonly<Record<string, Rule>> = {
    '/pods': async (attributes, node) => {
      const { operation, name, old } = attributes;
      if (operation === 'CREATE') return mirrorPod(attributes, node);
      if (operation === 'DELETE') return scheduleProblem(node, old ?? (await findPod(attributes, name)), 'delete');
      return `unexpected operation ${goQuote(operation)}, node ${goQuote(node)} can only create and delete mirror pods`;
    },
    '/pods/status': (attributes, node) => {
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
    },
    '/pods/eviction': async (attributes, node) =>
      scheduleProblem(node, await findPod(attributes, attributes.name), 'evict'),
    '/nodes': (attributes, node) => ownNode(attributes, node),
    '/nodes/status': (attributes, node) => ownNode(attributes, node),
    '/persistentvolumeclaims/status': ({ operation, object, old }, node) => {
      if (operation !== 'UPDATE') return `unexpected operation ${goQuote(operation)}`;
      if (semanticEqual(withoutCapacity(object), withoutCapacity(old))) return undefined;
      return `node ${goQuote(node)} is not allowed to update fields other than status.quantity and status.conditions`;
    },
    '/serviceaccounts/token': (attributes, node) => tokenOfPod(attributes, node),
    [`${naming.group('coordination')}/leases`]: ({ name, namespace }, node) => {
      if (namespace !== leaseNamespace)
        return `can only access leases in the ${goQuote(leaseNamespace)} system namespace`;
      return name === node ? undefined : 'can only access node lease with the same name as the requesting node';
    },
    [`${naming.group('storage')}/csinodes`]: ({ name }, node) =>
      name === node ? undefined : 'can only access CSINode with the same name as the requesting node',
    [`${naming.group('certificates')}/certificatesigningrequests`]: (attributes, node) =>
      featureGates['AllowInsecureKubeletCertificateSigningRequests'] === true
        ? undefined
        : certificateRequestProblem(dependencies, attributes, node),
    [`${naming.group('certificates')}/podcertificaterequests`]: (attributes, node) =>
      podCertificateRequestProblem(dependencies, attributes, node),
    [`${naming.group('resource')}/resourceslices`]: ({ object, old }, node) =>
      [object, old].every((slice: ResourceSlice | undefined) => !slice || slice.spec?.nodeName === node)
        ? undefined
        : 'can only create, modify and delete ResourceSlices with the same nodeName as the requesting node',
  };
  /** Resources of which a node may write only the subresources that have a rule. */
  const closed: Readonly<Record<string, string>> = {
    '/pods': "unexpected pod subresource, only 'status' and 'eviction' are allowed",
    '/persistentvolumeclaims': 'may only update PVC status',
    [`${naming.group('certificates')}/podcertificaterequests`]: 'unexpected subresource',
  };

  async function mirrorPod(attributes: AdmissionAttributes, node: string): Promise<string | undefined> {
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

  function ownNode(attributes: AdmissionAttributes, node: string): string | undefined {
    const { operation, name: written } = attributes;
    const object: Node | undefined = attributes.object;
    const old: Node | undefined = attributes.old;
    const who = `node ${goQuote(node)} is not allowed to`;
    if (written !== node) return `${who} modify node ${goQuote(written)}`;
    if (!object) return `${who} delete itself`;
    const { configSource } = object.spec ?? {};
    if (configSource !== undefined && !deepEqual(configSource, old?.spec?.configSource))
      return `${who} update configSource`;
    const foreign = foreignLabels(changedLabels(object.metadata.labels, old?.metadata.labels), naming);
    if (operation === 'CREATE') {
      return foreign.length === 0 ? undefined : `${who} set the following labels: ${foreign.join(', ')}`;
    }
    if (!deepEqual(object.spec?.taints ?? [], old?.spec?.taints ?? [])) return `${who} modify taints`;
    if (!deepEqual(object.metadata.ownerReferences ?? [], old?.metadata.ownerReferences ?? []))
      return `${who} modify ownerReferences`;
    return foreign.length === 0 ? undefined : `${who} modify labels: ${foreign.join(', ')}`;
  }

  /** A node may request tokens of a service account only for a Pod that runs on it as this service account. */
  async function tokenOfPod(attributes: AdmissionAttributes, node: string): Promise<string | undefined> {
    const tokenRequest: TokenRequest | undefined = attributes.object;
    const ref = tokenRequest?.spec?.boundObjectRef;
    if (!ref || ref.apiVersion !== 'v1' || ref.kind !== 'Pod') return 'node requested token not bound to a pod';
    const { name = '', uid = '' } = ref;
    if (uid === '') return 'node requested token with a pod binding without a uid';
    const pod = await findPod(attributes, name);
    if (!pod || pod.metadata.uid !== uid) return `the UID in the bound object reference does not match a pod`;
    const { nodeName, serviceAccountName } = pod.spec ?? {};
    if (nodeName !== node) return 'node requested token bound to a pod scheduled on a different node';
    if (serviceAccountName !== attributes.name)
      return `node requested token for an account that the pod ${goQuote(name)} does not act as`;
    const checksAudience = featureGates['ServiceAccountNodeAudienceRestriction'] === true;
    return checksAudience ? audienceProblem(dependencies, attributes, pod) : undefined;
  }

  return {
    async admit(attributes) {
      const { resource, subresource, request } = attributes;
      const node = nodeOf(request.user);
      if (node === undefined) return;
      if (node === '') throw forbid(attributes, `could not determine node from user ${goQuote(request.user.name)}`);
      const path = `${resource.group}/${resource.resource}`;
      const rule = rules[subresource === '' ? path : `${path}/${subresource}`];
      const refused = rule ? await rule(attributes, node) : closed[path];
      if (refused !== undefined) throw forbid(attributes, refused);
    },
  };
}

/** Returns the claim without what a node may change: the sizes and conditions in its status. */
function withoutCapacity(claim: PersistentVolumeClaim | undefined): unknown {
  if (!claim) return undefined;
  const { metadata, status = {}, ...rest } = claim;
  const { resourceVersion: _version, managedFields: _managed, ...kept } = metadata;
  const { capacity: _c, conditions: _d, allocatedResources: _r, allocatedResourceStatuses: _s, ...keptStatus } = status;
  return { ...rest, metadata: kept, status: keptStatus };
}

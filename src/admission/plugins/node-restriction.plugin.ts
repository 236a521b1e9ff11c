import { deepEqual } from '../../machinery/deep-equal.js';
import { goQuote } from '../../machinery/field-error.js';
import { asFields, asItems, asText, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { semanticEqual } from '../../machinery/semantic-equal.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { nodeOf } from '../nodes/node-identity.js';
import { certificateRequestProblem, podCertificateRequestProblem } from '../nodes/node-certificates.js';
import { ownerProblem, referencedKind } from '../nodes/mirror-pod.js';
import { changedLabels, foreignLabels } from '../nodes/node-labels.js';
import { audienceProblem } from '../nodes/token-audience.js';
import { find } from '../object-reader.js';
import type { PluginParts } from '../plugin-dependencies.js';
import { forbid } from '../refusal.js';

type Parts = Pick<PluginParts, 'objects' | 'naming' | 'mayDo' | 'featureGates'>;

/** One write of a node, by the node that it says it is. Returns why it is refused. */
type Rule = (attributes: AdmissionAttributes, node: string) => string | undefined | Promise<string | undefined>;

const pods = { group: '', resource: 'pods' };
const nodes = { group: '', resource: 'nodes' };

/** What a node writes is about itself, and about the Pods that were given to it. */
export function nodeRestriction(parts: Parts): AdmissionPlugin {
  const { objects, naming, featureGates } = parts;
  const mirrorAnnotation = naming.label('config.mirror');
  const leaseNamespace = naming.systemNamespace('node-lease');

  const podOf = ({ namespace, name, old, request }: AdmissionAttributes, podName = name) =>
    old ?? find(objects, pods, namespace, podName, request.signal);

  /** Whether a Pod that is there was given to the node. */
  const givenTo = (node: string, pod: KubeObject | undefined, what: string): string | undefined =>
    !pod || asFields(pod['spec'])['nodeName'] === node
      ? undefined
      : `node ${goQuote(node)} can only ${what} pods with spec.nodeName set to itself`;

  const rules: Readonly<Record<string, Rule>> = {
    '/pods': async (attributes, node) => {
      if (attributes.operation === 'CREATE') return mirrorPod(attributes, node);
      if (attributes.operation === 'DELETE') return givenTo(node, await podOf(attributes), 'delete');
      return `unexpected operation ${goQuote(attributes.operation)}, node ${goQuote(node)} can only create and delete mirror pods`;
    },
    '/pods/status': (attributes, node) => {
      const { object, old, operation } = attributes;
      if (operation !== 'UPDATE') return `unexpected operation ${goQuote(operation)}`;
      const refused = givenTo(node, old, 'update pod status for');
      if (refused !== undefined) return refused;
      if (changedLabels(object?.metadata.labels, old?.metadata.labels).length > 0)
        return `node ${goQuote(node)} cannot update labels through pod status`;
      const isKept = (field: string) =>
        semanticEqual(asFields(object?.['status'])[field], asFields(old?.['status'])[field]);
      if (!isKept('resourceClaimStatuses')) return `node ${goQuote(node)} cannot update resource claim statues`;
      if (!isKept('extendedResourceClaimStatus'))
        return `node ${goQuote(node)} cannot update extended resource claim status`;
      return undefined;
    },
    '/pods/eviction': async (attributes, node) => {
      const pod = await find(objects, pods, attributes.namespace, attributes.name, attributes.request.signal);
      return givenTo(node, pod, 'evict');
    },
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
        : certificateRequestProblem(parts, attributes, node),
    [`${naming.group('certificates')}/podcertificaterequests`]: (attributes, node) =>
      podCertificateRequestProblem(parts, attributes, node),
    [`${naming.group('resource')}/resourceslices`]: ({ object, old }, node) =>
      [object, old].every((slice) => !slice || asFields(slice['spec'])['nodeName'] === node)
        ? undefined
        : 'can only create, modify and delete ResourceSlices with the same nodeName as the requesting node',
  };
  /** Resources of which a node may write nothing but what has a rule. */
  const closed: Readonly<Record<string, string>> = {
    '/pods': "unexpected pod subresource, only 'status' and 'eviction' are allowed",
    '/persistentvolumeclaims': 'may only update PVC status',
    [`${naming.group('certificates')}/podcertificaterequests`]: 'unexpected subresource',
  };

  async function mirrorPod(attributes: AdmissionAttributes, node: string): Promise<string | undefined> {
    const pod = attributes.object!;
    const spec = asFields(pod['spec']);
    if (pod.metadata.annotations?.[mirrorAnnotation] === undefined)
      return `pod does not have ${goQuote(mirrorAnnotation)} annotation, node ${goQuote(node)} can only create mirror pods`;
    const refused = givenTo(node, pod, 'create');
    if (refused !== undefined) return refused;
    const problem = ownerProblem(pod, node);
    if (problem !== undefined) return problem;
    const found = await find(objects, nodes, '', node, attributes.request.signal);
    const owner = pod.metadata.ownerReferences![0]!;
    if (found?.metadata.uid !== owner.uid)
      return `node ${node} UID mismatch: expected ${owner.uid} got ${found?.metadata.uid ?? ''}`;
    if (asItems(spec['ephemeralContainers']).length > 0)
      return `node ${goQuote(node)} can not create pods with ephemeral containers`;
    const kind = referencedKind(spec);
    return kind === undefined ? undefined : `node ${goQuote(node)} can not create pods that reference ${kind}`;
  }

  function ownNode({ operation, name, object, old }: AdmissionAttributes, node: string): string | undefined {
    const who = `node ${goQuote(node)} is not allowed to`;
    const asked = name === '' ? (object?.metadata.name ?? '') : name;
    if (asked !== node) return `${who} modify node ${goQuote(asked)}`;
    if (!object) return `${who} delete itself`;
    const source = (it: KubeObject | undefined) => asFields(it?.['spec'])['configSource'];
    if (isSet(source(object)) && !deepEqual(source(object), source(old))) return `${who} update configSource`;
    const foreign = foreignLabels(changedLabels(object.metadata.labels, old?.metadata.labels), naming);
    if (operation === 'CREATE') {
      return foreign.length === 0 ? undefined : `${who} set the following labels: ${foreign.join(', ')}`;
    }
    const taints = (it: KubeObject | undefined) => asItems(asFields(it?.['spec'])['taints']);
    if (!deepEqual(taints(object), taints(old))) return `${who} modify taints`;
    if (!deepEqual(object.metadata.ownerReferences ?? [], old?.metadata.ownerReferences ?? []))
      return `${who} modify ownerReferences`;
    return foreign.length === 0 ? undefined : `${who} modify labels: ${foreign.join(', ')}`;
  }

  /** A token for an account is for a Pod that runs there and acts as it. */
  async function tokenOfPod(attributes: AdmissionAttributes, node: string): Promise<string | undefined> {
    const { boundObjectRef: ref } = asFields(attributes.object?.['spec']);
    if (!isSet(ref)) return 'node requested token not bound to a pod';
    const { apiVersion, kind, name, uid } = asFields(ref);
    if (apiVersion !== 'v1' || kind !== 'Pod') return 'node requested token not bound to a pod';
    if (asText(uid) === '') return 'node requested token with a pod binding without a uid';
    const pod = await find(objects, pods, attributes.namespace, asText(name), attributes.request.signal);
    if (!pod || pod.metadata.uid !== uid) return `the UID in the bound object reference does not match a pod`;
    const { nodeName, serviceAccountName } = asFields(pod['spec']);
    if (nodeName !== node) return 'node requested token bound to a pod scheduled on a different node';
    if (serviceAccountName !== attributes.name)
      return `node requested token for an account that the pod ${goQuote(asText(name))} does not act as`;
    const checksAudience = featureGates['ServiceAccountNodeAudienceRestriction'] === true;
    return checksAudience ? audienceProblem(parts, attributes, pod) : undefined;
  }

  return {
    name: 'NodeRestriction',
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

/** The claim without what a node tells of its size. */
function withoutCapacity(claim: KubeObject | undefined): unknown {
  if (!claim) return undefined;
  const { metadata, status, ...rest } = claim;
  const { resourceVersion: _version, managedFields: _managed, ...kept } = metadata;
  const {
    capacity: _c,
    conditions: _d,
    allocatedResources: _r,
    allocatedResourceStatuses: _s,
    ...told
  } = asFields(status);
  return { ...rest, metadata: kept, status: told };
}

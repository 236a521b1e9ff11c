import type { NamingProfile } from '../../config/naming-profile.js';
import { goQuote } from '../../machinery/field-error.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { AdmissionAttributes } from '../admission-plugin.js';
import { requestIn } from '../certificate-requests.js';
import { isMirrorPod } from '../pods/containers.js';
import { find, type ObjectReader } from '../object-reader.js';

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
}

/** A node asks for its own certificates alone: approvers sign those of nodes without looking further. */
export function certificateRequestProblem(
  { naming }: Parts,
  attributes: AdmissionAttributes,
  node: string,
): string | undefined {
  if (attributes.operation !== 'CREATE') return undefined;
  const signer = asText(asFields(attributes.object?.['spec'])['signerName']);
  const own = [naming.label('kubelet-serving'), naming.label(`${naming.systemName('apiserver-client')}-kubelet`)];
  if (!own.includes(signer)) return undefined;
  const { commonName } = requestIn(attributes, 'unable to parse csr');
  return commonName === `system:node:${node}` ? undefined : `can only create a node CSR with CN=system:node:${node}`;
}

/** A node asks for certificates of Pods that run on it, as what they are. */
export async function podCertificateRequestProblem(
  { objects, naming }: Parts,
  { operation, subresource, object, namespace, request }: AdmissionAttributes,
  node: string,
): Promise<string | undefined> {
  if (operation !== 'CREATE') return `unexpected operation ${operation}`;
  if (subresource !== '') return `unexpected subresource ${subresource}`;
  const spec = asFields(object?.['spec']);
  const text = (field: string) => asText(spec[field]);
  const seen = (resource: string, home: string, name: string) =>
    find(objects, { group: '', resource }, home, name, request.signal);
  if (text('nodeName') !== node) {
    return `PodCertificateRequest.Spec.NodeName=${goQuote(text('nodeName'))}, which is not the requesting node ${goQuote(node)}`;
  }
  const owner = await seen('nodes', '', node);
  const what = `PodCertificateRequest for pod ${goQuote(`${namespace}/${text('podName')}`)}`;
  if (owner?.metadata.uid !== text('nodeUID')) return `${what} names a node UID that is not that of the running node`;
  const pod = await seen('pods', namespace, text('podName'));
  if (pod?.metadata.uid !== text('podUID')) return `${what} contains a pod UID that is not that of a running pod`;
  const { nodeName, serviceAccountName } = asFields(pod['spec']);
  if (nodeName !== node)
    return `pod ${goQuote(`${namespace}/${text('podName')}`)} is not running on node ${goQuote(node)} named in the PodCertificateRequest`;
  if (isMirrorPod(pod, naming.label('config.mirror')))
    return `pod ${goQuote(`${namespace}/${text('podName')}`)} is a mirror pod`;
  if (serviceAccountName !== text('serviceAccountName')) {
    return `${what} contains serviceAccountName (${goQuote(text('serviceAccountName'))}) that differs from running pod (${goQuote(asText(serviceAccountName))})`;
  }
  const account = await seen('serviceaccounts', namespace, text('serviceAccountName'));
  return account?.metadata.uid === text('serviceAccountUID')
    ? undefined
    : `${what} names a service account UID that is not that of the running service account`;
}

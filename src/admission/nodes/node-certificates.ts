import type { CertificateSigningRequest } from '../../catalog/types/certificates.v1.js';
import type { PodCertificateRequest } from '../../catalog/types/certificates.v1beta1.js';
import type { Pod } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { goQuote } from '../../machinery/field-error.js';
import type { AdmissionAttributes } from '../admission-plugin.js';
import { parseRequest } from '../certificate-requests.js';
import { isMirrorPod } from '../../pods/containers.js';
import { find, type ObjectReader } from '../object-reader.js';

interface Dependencies {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
}

/** A node may request certificates for itself only: approvers check no more than the requester. */
export function certificateRequestProblem(
  { naming }: Dependencies,
  attributes: AdmissionAttributes,
  node: string,
): string | undefined {
  if (attributes.operation !== 'CREATE') return undefined;
  const request: CertificateSigningRequest | undefined = attributes.object;
  const own = [naming.label('kubelet-serving'), naming.label(`${naming.systemName('apiserver-client')}-kubelet`)];
  if (!own.includes(request?.spec?.signerName ?? '')) return undefined;
  const { commonName } = parseRequest(attributes, 'unable to parse csr');
  return commonName === `system:node:${node}` ? undefined : `can only create a node CSR with CN=system:node:${node}`;
}

/** A node may request certificates for Pods that run on it, with the uids and the service account that they have. */
export async function podCertificateRequestProblem(
  { objects, naming }: Dependencies,
  { operation, subresource, object, namespace, request }: AdmissionAttributes,
  node: string,
): Promise<string | undefined> {
  if (operation !== 'CREATE') return `unexpected operation ${operation}`;
  if (subresource !== '') return `unexpected subresource ${subresource}`;
  const submitted: PodCertificateRequest | undefined = object;
  const { podName = '', podUID = '', nodeName = '', nodeUID = '', ...account } = submitted?.spec ?? {};
  const { serviceAccountName = '', serviceAccountUID = '' } = account;
  const findCore = (resource: string, inNamespace: string, name: string) =>
    find(objects, { group: '', resource }, inNamespace, name, request.signal);
  const quotedPod = goQuote(`${namespace}/${podName}`);
  if (nodeName !== node) {
    return `PodCertificateRequest.Spec.NodeName=${goQuote(nodeName)}, which is not the requesting node ${goQuote(node)}`;
  }
  const owner = await findCore('nodes', '', node);
  const what = `PodCertificateRequest for pod ${quotedPod}`;
  if (owner?.metadata.uid !== nodeUID) return `${what} names a node UID that is not that of the running node`;
  const pod: Pod | undefined = await findCore('pods', namespace, podName);
  if (pod?.metadata.uid !== podUID) return `${what} contains a pod UID that is not that of a running pod`;
  const { nodeName: runsOn, serviceAccountName: runsAs = '' } = pod.spec ?? {};
  if (runsOn !== node)
    return `pod ${quotedPod} is not running on node ${goQuote(node)} named in the PodCertificateRequest`;
  if (isMirrorPod(pod, naming.label('config.mirror'))) return `pod ${quotedPod} is a mirror pod`;
  if (runsAs !== serviceAccountName) {
    return `${what} contains serviceAccountName (${goQuote(serviceAccountName)}) that differs from running pod (${goQuote(runsAs)})`;
  }
  const found = await findCore('serviceaccounts', namespace, serviceAccountName);
  return found?.metadata.uid === serviceAccountUID
    ? undefined
    : `${what} names a service account UID that is not that of the running service account`;
}

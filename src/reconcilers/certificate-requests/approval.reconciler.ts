import { CertificateError } from '../../certificates/certificate-error.js';
import { asFields, asItems } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Reconciler } from '../reconciler.js';
import { followRequests } from './follow-requests.js';
import { hasCertificate, hasCondition, parsedRequest, requesterOf, signerNameOf, usagesOf } from './request-state.js';
import { refusalOf, signerNames } from './signers.js';

/** Somebody may be given the right later. */
const lookAgainMs = 60_000;
const selfMessage = 'Auto approving self kubelet client certificate after SubjectAccessReview.';
const nodeMessage = 'Auto approving kubelet client certificate after SubjectAccessReview.';

/**
 * Approves requests for client certificates of kubelets: where the requester may create
 * certificatesigningrequests/nodeclient, or, for its own certificate, certificatesigningrequests/selfnodeclient.
 */
export const requestApproval: Reconciler = {
  name: 'certificatesigningrequest-approving-controller',
  yieldsToUpstream: true,
  account: 'certificate-controller',
  start(parts) {
    const { client, config, mayDo } = parts;
    const signerName = signerNames(config.naming).kubeletClient;
    const group = config.naming.group('certificates');
    return followRequests(parts, 'csrapproving', async (request, place, signal) => {
      if (hasCertificate(request) || hasCondition(request, 'Approved') || hasCondition(request, 'Denied')) return;
      const kinds = signerNameOf(request) === signerName ? kindsOf(request) : [];
      if (kinds.length === 0) return;
      const user = requesterOf(request);
      const right = { user, verb: 'create', group, resource: 'certificatesigningrequests' };
      for (const { subresource, told } of kinds) {
        if (!(await mayDo({ ...right, subresource }))) continue;
        const { uid, resourceVersion } = request.metadata;
        await client.change(place, (current) => approved(current, told), {
          subresource: 'approval',
          preconditions: { uid, resourceVersion },
          signal,
        });
        return;
      }
      return { againInMs: lookAgainMs };
    });
  },
};

/** The rights by which a request may be approved, the narrower one first; none when it is not for a kubelet's client. */
function kindsOf(request: KubeObject): { readonly subresource: string; readonly told: string }[] {
  try {
    const parsed = parsedRequest(request);
    if (refusalOf('kubeletClient', parsed, usagesOf(request)) !== undefined) return [];
    const isSelf = parsed.commonName === requesterOf(request).name;
    return [
      ...(isSelf ? [{ subresource: 'selfnodeclient', told: selfMessage }] : []),
      { subresource: 'nodeclient', told: nodeMessage },
    ];
  } catch (error) {
    if (error instanceof CertificateError) return [];
    throw error;
  }
}

function approved(request: KubeObject, told: string): KubeObject {
  const status = asFields(request['status']);
  const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message: told };
  return { ...request, status: { ...status, conditions: [...asItems(status['conditions']), condition] } };
}

import type { CertificateSigningRequest } from '../../catalog/types/certificates.v1.js';
import { CertificateError } from '../../certificates/certificate-error.js';
import { defineReconciler } from '../reconciler.js';
import { followRequests } from './follow-requests.js';
import {
  hasCertificate,
  hasCondition,
  parsedRequest,
  requesterOf,
  signerNameOf,
  statusWith,
  usagesOf,
} from './request-state.js';
import { refusalOf, signerNames } from './signers.js';

/** The requester may get the permission later. */
const recheckMs = 60_000;
const selfMessage = 'Auto approving self kubelet client certificate after SubjectAccessReview.';
const nodeMessage = 'Auto approving kubelet client certificate after SubjectAccessReview.';

/**
 * Approves requests for client certificates of kubelets if the requester may create
 * certificatesigningrequests/nodeclient or, for its own certificate, certificatesigningrequests/selfnodeclient.
 */
export const requestApproval = defineReconciler({
  name: 'certificatesigningrequest-approving-controller',
  runs: 'by default',
  runsOn: 'leader',
  yieldsToUpstream: true,
  role: 'certificate-controller',
  start(dependencies) {
    const { client, config, mayDo } = dependencies;
    const signerName = signerNames(config.naming).kubeletClient;
    const group = config.naming.group('certificates');
    return followRequests(dependencies, 'csrapproving', async (request, ref, signal) => {
      if (hasCertificate(request) || hasCondition(request, 'Approved') || hasCondition(request, 'Denied')) return;
      const permissions = signerNameOf(request) === signerName ? permissionsFor(request) : [];
      if (permissions.length === 0) return;
      const user = requesterOf(request);
      const permission = { user, verb: 'create', group, resource: 'certificatesigningrequests' };
      for (const { subresource, message } of permissions) {
        if (!(await mayDo({ ...permission, subresource }))) continue;
        const { uid, resourceVersion } = request.metadata;
        await client.change(ref, (current) => approved(current, message), {
          subresource: 'approval',
          preconditions: { uid, resourceVersion },
          signal,
        });
        return;
      }
      return { againInMs: recheckMs };
    });
  },
});

interface ApprovalPermission {
  readonly subresource: string;
  /** Message of the condition. */
  readonly message: string;
}

/** Returns the permissions that allow to approve a request, the narrower first; none if it is not for a kubelet client. */
function permissionsFor(request: CertificateSigningRequest): ApprovalPermission[] {
  try {
    const parsed = parsedRequest(request);
    if (refusalOf('kubeletClient', parsed, usagesOf(request)) !== undefined) return [];
    const isSelf = parsed.commonName === requesterOf(request).name;
    return [
      ...(isSelf ? [{ subresource: 'selfnodeclient', message: selfMessage }] : []),
      { subresource: 'nodeclient', message: nodeMessage },
    ];
  } catch (error) {
    if (error instanceof CertificateError) return [];
    throw error;
  }
}

function approved(request: CertificateSigningRequest, message: string): CertificateSigningRequest {
  const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
  return { ...request, status: statusWith(request, condition) };
}

import { X509Certificate } from 'node:crypto';
import type { CertificateSigningRequest } from '../../catalog/types/certificates.v1.js';
import { defineReconciler } from '../reconciler.js';
import { followRequests } from './follow-requests.js';
import { hasCertificate } from './request-state.js';

const hourMs = 3_600_000;
/** Decided requests stay for an hour, undecided and unsigned ones for a day, as in kube-controller-manager. */
const decidedMs = hourMs;
const pendingMs = 24 * hourMs;

/** Deletes decided and outdated CertificateSigningRequests. */
export const requestCleaning = defineReconciler({
  name: 'certificatesigningrequest-cleaner-controller',
  runs: 'by default',
  runsOn: 'leader',
  yieldsToUpstream: true,
  role: 'certificate-controller',
  start(dependencies) {
    const { client, clock } = dependencies;
    return followRequests(dependencies, 'csrcleaner', async (request, ref, signal) => {
      const leftMs = deletionTimeMs(request) - clock.now();
      if (leftMs > 0) return { againInMs: Math.min(leftMs, pendingMs) };
      const { uid, resourceVersion } = request.metadata;
      await client.delete(ref, { preconditions: { uid, resourceVersion } }, signal);
    });
  },
});

/** Returns the time at which a request is to be deleted; Infinity if it stays. */
export function deletionTimeMs(request: CertificateSigningRequest): number {
  const isIssued = hasCertificate(request);
  const conditions = request.status?.conditions ?? [];
  if (conditions.length === 0) return timeOf(request.metadata.creationTimestamp) + pendingMs;
  const times = conditions.map(({ type, lastUpdateTime }) => {
    const updatedMs = timeOf(lastUpdateTime);
    if (type === 'Denied' || type === 'Failed') return updatedMs + decidedMs;
    if (type !== 'Approved') return Infinity;
    return isIssued ? Math.min(updatedMs + decidedMs, certificateEndMs(request)) : updatedMs + pendingMs;
  });
  return Math.min(...times);
}

function timeOf(time: string | null | undefined): number {
  const timeMs = Date.parse(time ?? '');
  return Number.isNaN(timeMs) ? Infinity : timeMs;
}

function certificateEndMs({ status }: CertificateSigningRequest): number {
  const pem = Buffer.from(status?.certificate ?? '', 'base64');
  try {
    return timeOf(new X509Certificate(pem).validTo);
  } catch {
    return Infinity;
  }
}

import { X509Certificate } from 'node:crypto';
import { asFields, asItems, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Reconciler } from '../reconciler.js';
import { followRequests } from './follow-requests.js';
import { hasCertificate } from './request-state.js';

const hourMs = 3_600_000;
/** Decided requests stay for an hour, undecided and unsigned ones for a day, as in kube-controller-manager. */
const decidedMs = hourMs;
const pendingMs = 24 * hourMs;

/** Deletes CertificateSigningRequests that nobody needs any more. */
export const requestCleaning: Reconciler = {
  name: 'certificatesigningrequest-cleaner-controller',
  yieldsToUpstream: true,
  account: 'certificate-controller',
  start(parts) {
    const { client, clock } = parts;
    return followRequests(parts, 'csrcleaner', async (request, place, signal) => {
      const leftMs = deletionTimeMs(request) - clock.now();
      if (leftMs > 0) return { againInMs: Math.min(leftMs, pendingMs) };
      const { uid, resourceVersion } = request.metadata;
      await client.delete(place, { preconditions: { uid, resourceVersion } }, signal);
    });
  },
};

/** Infinity for a request that stays. */
export function deletionTimeMs(request: KubeObject): number {
  const isIssued = hasCertificate(request);
  const conditions = asItems(asFields(request['status'])['conditions']);
  if (conditions.length === 0) return timeOf(request.metadata.creationTimestamp) + pendingMs;
  const times = conditions.map(({ type, lastUpdateTime }) => {
    const updatedMs = timeOf(lastUpdateTime);
    if (type === 'Denied' || type === 'Failed') return updatedMs + decidedMs;
    if (type !== 'Approved') return Infinity;
    return isIssued ? Math.min(updatedMs + decidedMs, certificateEndMs(request)) : updatedMs + pendingMs;
  });
  return Math.min(...times);
}

function timeOf(value: unknown): number {
  const timeMs = Date.parse(asText(value));
  return Number.isNaN(timeMs) ? Infinity : timeMs;
}

function certificateEndMs(request: KubeObject): number {
  const pem = Buffer.from(asText(asFields(request['status'])['certificate']), 'base64');
  try {
    return timeOf(new X509Certificate(pem).validTo);
  } catch {
    return Infinity;
  }
}

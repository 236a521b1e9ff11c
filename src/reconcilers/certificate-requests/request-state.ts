import { certificateRequestInPem } from '../../certificates/certificate-request.js';
import { requestedCertificate, type RequestedCertificate } from '../../certificates/requested-certificate.js';
import { asFields, asItems, asText, asTexts } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { UserInfo } from '../../machinery/user-info.js';

/** Reading CertificateSigningRequests. */

export const signerNameOf = (request: KubeObject): string => asText(asFields(request['spec'])['signerName']);
export const usagesOf = (request: KubeObject): string[] => asTexts(asFields(request['spec'])['usages']);
export const hasCertificate = (request: KubeObject): boolean =>
  asText(asFields(request['status'])['certificate']) !== '';

/** True if the request has a condition of this type, whatever its status: a decision is always True. */
export function hasCondition(request: KubeObject, type: string): boolean {
  return asItems(asFields(request['status'])['conditions']).some((condition) => condition['type'] === type);
}

export const isApproved = (request: KubeObject): boolean =>
  hasCondition(request, 'Approved') && !hasCondition(request, 'Denied');

/** Throws CertificateError where there is none that can be read. */
export function parsedRequest(request: KubeObject): RequestedCertificate {
  const text = Buffer.from(asText(asFields(request['spec'])['request']), 'base64').toString('latin1');
  return requestedCertificate(certificateRequestInPem(text));
}

/** The user who made the request, as the server noted it. */
export function requesterOf(request: KubeObject): UserInfo {
  const { username, uid, groups, extra } = asFields(request['spec']);
  return {
    name: asText(username),
    uid: asText(uid),
    groups: asTexts(groups),
    extra: Object.fromEntries(Object.entries(asFields(extra)).map(([key, values]) => [key, asTexts(values)])),
  };
}

import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
  CertificateSigningRequestStatus,
} from '../../catalog/types/certificates.v1.js';
import { certificateRequestInPem } from '../../certificates/certificate-request.js';
import { requestedCertificate, type RequestedCertificate } from '../../certificates/requested-certificate.js';
import type { UserInfo } from '../../machinery/user-info.js';

/** Functions that read CertificateSigningRequests. */

export const signerNameOf = ({ spec }: CertificateSigningRequest): string => spec?.signerName ?? '';
export const usagesOf = ({ spec }: CertificateSigningRequest): readonly string[] => spec?.usages ?? [];
export const hasCertificate = ({ status }: CertificateSigningRequest): boolean => Boolean(status?.certificate);

/** True if the request has a condition of this type, whatever its status: decisions have the status True. */
export function hasCondition({ status }: CertificateSigningRequest, type: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type);
}

export const isApproved = (request: CertificateSigningRequest): boolean =>
  hasCondition(request, 'Approved') && !hasCondition(request, 'Denied');

/** Returns the status with one more condition. */
export function statusWith(
  { status }: CertificateSigningRequest,
  condition: CertificateSigningRequestCondition,
): CertificateSigningRequestStatus {
  return { ...status, conditions: [...(status?.conditions ?? []), condition] };
}

/** Throws CertificateError if spec.request cannot be parsed. */
export function parsedRequest({ spec }: CertificateSigningRequest): RequestedCertificate {
  const text = Buffer.from(spec?.request ?? '', 'base64').toString('latin1');
  return requestedCertificate(certificateRequestInPem(text));
}

/** Returns the user who created the request, which the server recorded in the spec. */
export function requesterOf({ spec = {} }: CertificateSigningRequest): UserInfo {
  const { username = '', uid = '', groups = [], extra = {} } = spec;
  return {
    name: username,
    uid,
    groups,
    extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, values ?? []])),
  };
}

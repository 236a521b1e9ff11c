import type { CertificateSigningRequest } from '../catalog/types/certificates.v1.js';
import { CertificateError } from '../certificates/certificate-error.js';
import { parsePemCertificateRequest, type ParsedCertificateRequest } from '../certificates/certificate-request.js';
import type { AdmissionAttributes } from './admission-plugin.js';
import { forbid } from './refusal.js';

/** Parses spec.request of a CertificateSigningRequest. If that fails, throws Forbidden: `<problem>: …`. */
export function parseRequest(attributes: AdmissionAttributes, problem: string): ParsedCertificateRequest {
  const submitted: CertificateSigningRequest | undefined = attributes.object;
  try {
    return parsePemCertificateRequest(Buffer.from(submitted?.spec?.request ?? '', 'base64').toString('latin1'));
  } catch (error) {
    if (error instanceof CertificateError) throw forbid(attributes, `${problem}: ${error.message}`);
    throw error;
  }
}

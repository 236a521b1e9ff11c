import { CertificateError } from '../certificates/certificate-error.js';
import { parsePemCertificateRequest, type ParsedCertificateRequest } from '../certificates/certificate-request.js';
import { asFields, asText } from '../machinery/fields.js';
import type { AdmissionAttributes } from './admission-plugin.js';
import { forbid } from './refusal.js';

/** The request in a CertificateSigningRequest. One that cannot be read is forbidden: `<problem>: …`. */
export function requestIn(attributes: AdmissionAttributes, problem: string): ParsedCertificateRequest {
  const base64 = asText(asFields(attributes.object?.['spec'])['request']);
  try {
    return parsePemCertificateRequest(Buffer.from(base64, 'base64').toString('latin1'));
  } catch (error) {
    if (error instanceof CertificateError) throw forbid(attributes, `${problem}: ${error.message}`);
    throw error;
  }
}

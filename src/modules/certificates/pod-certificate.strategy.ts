import type { PodCertificateRequest } from '../../catalog/types/certificates.v1beta1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { path } from '../../machinery/field-error.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validatePodCertificateStatus } from './pod-certificate.status.validation.js';
import { validatePodCertificateSpec } from './pod-certificate.validation.js';

const lifetimeSecondsDefault = 24 * 60 * 60;

/** A request of a node for a certificate of a Pod; its spec is immutable. */
export function podCertificateStrategy(naming: NamingProfile): Strategy<PodCertificateRequest> {
  const ownSigners = naming.label('');
  return {
    validateName: nameIsDnsSubdomain,
    default(request) {
      const spec = (request.spec ??= {});
      spec.maxExpirationSeconds ??= lifetimeSecondsDefault;
    },
    validateCreate: ({ spec = {} }) => validatePodCertificateSpec(spec, ownSigners),
    validateUpdate: (request, old) => immutable(request.spec, old.spec, path('spec')),
  };
}

export const podCertificateStatusSubresource = statusSubresource<PodCertificateRequest>({
  keepsMetadata: true,
  validate: validatePodCertificateStatus,
});

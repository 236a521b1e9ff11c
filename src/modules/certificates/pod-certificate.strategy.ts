import type { NamingProfile } from '../../config/naming-profile.js';
import { path } from '../../machinery/field-error.js';
import { asFields, fillIn, makeFields } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validatePodCertificateStatus } from './pod-certificate.status.validation.js';
import { validatePodCertificateSpec } from './pod-certificate.validation.js';

const lifetimeSecondsDefault = 24 * 60 * 60;

/** A node asks for a certificate in the name of a pod. */
export function podCertificateStrategy(naming: NamingProfile): Strategy {
  const ownSigners = naming.label('');
  return {
    validateName: nameIsDnsSubdomain,
    default: (request) => fillIn(makeFields(request, 'spec'), 'maxExpirationSeconds', lifetimeSecondsDefault),
    prepareForCreate(request) {
      request['status'] = {};
    },
    prepareForUpdate(request, old) {
      request['status'] = old['status'];
    },
    validateCreate: (request) => validatePodCertificateSpec(asFields(request['spec']), ownSigners),
    validateUpdate: (request, old) => immutable(request['spec'], old['spec'], path('spec')),
  };
}

export const podCertificateStatusSubresource = statusSubresource({
  keepsMetadata: true,
  validate: validatePodCertificateStatus,
});

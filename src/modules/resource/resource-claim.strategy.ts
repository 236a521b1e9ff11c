import { path } from '../../machinery/field-error.js';
import { asFields, isSet } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { shownClaimSpec } from './claim-spec.go-value.js';
import { validateClaimSpec } from './claim-spec.validation.js';
import { validateClaimStatus } from './claim-status.validation.js';
import { defaultClaimSpec } from './device-request.defaults.js';

const at = path('spec');

export const resourceClaimStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  default: (claim) => defaultClaimSpec(asFields(claim['spec'])),
  prepareForCreate(claim) {
    claim['status'] = {};
  },
  prepareForUpdate(claim, old) {
    claim['status'] = old['status'];
  },
  validateCreate: (claim) => validateClaimSpec(asFields(claim['spec']), at),
  validateUpdate: (claim, old) => [
    ...immutable(claim['spec'], old['spec'], at, shownClaimSpec(claim['spec'])),
    ...validateClaimSpec(asFields(claim['spec']), at),
  ],
};

export const resourceClaimStatusSubresource = statusSubresource({
  keepsMetadata: true,
  /** What is told of devices goes with the devices. */
  prepare(claim, old) {
    const status = asFields(claim['status']);
    const wasAllocated = isSet(asFields(old['status'])['allocation']);
    if (wasAllocated && !isSet(status['allocation'])) delete status['devices'];
  },
  validate: validateClaimStatus,
});

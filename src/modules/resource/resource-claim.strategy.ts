import type { ResourceClaim } from '../../catalog/types/resource.v1.js';
import { path } from '../../machinery/field-error.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { shownClaimSpec } from './claim-spec.go-value.js';
import { validateClaimSpec } from './claim-spec.validation.js';
import { validateClaimStatus } from './claim-status.validation.js';
import { defaultClaimSpec } from './device-request.defaults.js';

const at = path('spec');

export const resourceClaimStrategy: Strategy<ResourceClaim> = {
  validateName: nameIsDnsSubdomain,
  default: ({ spec = {} }) => defaultClaimSpec(spec),
  *validateInSteps({ spec = {} }, old) {
    return old ? immutable(spec, old.spec, at, shownClaimSpec(spec)) : yield* validateClaimSpec(spec, at);
  },
};

export const resourceClaimStatusSubresource = statusSubresource<ResourceClaim>({
  keepsMetadata: true,
  /** Removes the statuses of devices that a write deallocates. */
  prepare({ status }, old) {
    const wasAllocated = old.status?.allocation !== undefined;
    if (status && wasAllocated && !status.allocation) delete status.devices;
  },
  validate: validateClaimStatus,
});

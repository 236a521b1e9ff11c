import { fillIn, makeFields } from '../../machinery/fields.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { fillMatchResources } from './match.defaults.js';
import { validateMutatingPolicy, validateValidatingPolicy } from './policy.validation.js';

/** Policies are programs: what their expressions may say is checked where expressions are known. */
export const validatingPolicyStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default(policy) {
    const spec = makeFields(policy, 'spec');
    fillIn(spec, 'failurePolicy', 'Fail');
    fillMatchResources(spec, 'matchConstraints');
    makeFields(policy, 'status');
  },
  prepareForCreate(policy) {
    policy['status'] = {};
  },
  prepareForUpdate(policy, old) {
    policy['status'] = old['status'];
  },
  validateCreate: (policy) => validateValidatingPolicy(policy, undefined),
  validateUpdate: validateValidatingPolicy,
};

export const mutatingPolicyStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default(policy) {
    const spec = makeFields(policy, 'spec');
    fillIn(spec, 'failurePolicy', 'Fail');
    fillMatchResources(spec, 'matchConstraints');
  },
  validateCreate: (policy) => validateMutatingPolicy(policy, undefined),
  validateUpdate: validateMutatingPolicy,
};

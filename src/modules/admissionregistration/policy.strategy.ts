import type { ValidatingAdmissionPolicy } from '../../catalog/types/admissionregistration.v1.js';
import type { MutatingAdmissionPolicy } from '../../catalog/types/admissionregistration.v1beta1.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { defaultMatchResources } from './match.defaults.js';
import { validateMutatingPolicy, validateValidatingPolicy } from './policy.validation.js';

export const validatingPolicyStrategy: Strategy<ValidatingAdmissionPolicy> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default(policy) {
    const spec = (policy.spec ??= {});
    spec.failurePolicy ??= 'Fail';
    defaultMatchResources(spec.matchConstraints);
    policy.status ??= {};
  },
  validateInSteps: validateValidatingPolicy,
};

export const mutatingPolicyStrategy: Strategy<MutatingAdmissionPolicy> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default(policy) {
    const spec = (policy.spec ??= {});
    spec.failurePolicy ??= 'Fail';
    defaultMatchResources(spec.matchConstraints);
  },
  validateInSteps: validateMutatingPolicy,
};

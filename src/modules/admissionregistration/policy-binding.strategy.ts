import type { ValidatingAdmissionPolicyBinding } from '../../catalog/types/admissionregistration.v1.js';
import type { MutatingAdmissionPolicyBinding } from '../../catalog/types/admissionregistration.v1beta1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { defaultMatchResources } from './match.defaults.js';
import { validateMutatingBinding, validateValidatingBinding } from './policy-binding.validation.js';

/** Bindings put a policy in force; both kinds have the fields of a MutatingAdmissionPolicyBinding. */
const common = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default(binding: Mutable<MutatingAdmissionPolicyBinding>) {
    const spec = (binding.spec ??= {});
    defaultMatchResources(spec.matchResources);
  },
};

export const validatingBindingStrategy: Strategy<ValidatingAdmissionPolicyBinding> = {
  ...common,
  validateCreate: validateValidatingBinding,
  validateUpdate: validateValidatingBinding,
};

export const mutatingBindingStrategy: Strategy<MutatingAdmissionPolicyBinding> = {
  ...common,
  validateCreate: validateMutatingBinding,
  validateUpdate: validateMutatingBinding,
};

import { makeFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { fillMatchResources } from './match.defaults.js';
import { validateMutatingBinding, validateValidatingBinding } from './policy-binding.validation.js';

/** A policy is in force where a binding says so. */
const common: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: (binding: KubeObject) => fillMatchResources(makeFields(binding, 'spec'), 'matchResources'),
};

export const validatingBindingStrategy: Strategy = {
  ...common,
  validateCreate: validateValidatingBinding,
  validateUpdate: validateValidatingBinding,
};

export const mutatingBindingStrategy: Strategy = {
  ...common,
  validateCreate: validateMutatingBinding,
  validateUpdate: validateMutatingBinding,
};

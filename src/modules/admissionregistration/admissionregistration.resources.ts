import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource, otherVersion, type ResourceDefinition } from '../../registry/resource-definition.js';
import { statusLens } from '../../registry/status-lens.js';
import { bindingTable, mutatingPolicyTable, validatingPolicyTable } from './policy.table.js';
import { mutatingBindingStrategy, validatingBindingStrategy } from './policy-binding.strategy.js';
import { mutatingPolicyStrategy, validatingPolicyStrategy } from './policy.strategy.js';
import { webhookConfigurationTable } from './webhook-configuration.table.js';
import { webhookConfigurationStrategy } from './webhook-configuration.strategy.js';

export const admissionregistrationVersion = (naming: NamingProfile) => ({
  group: naming.group('admissionregistration'),
  version: 'v1',
});

export function admissionregistrationResources(naming: NamingProfile): readonly ResourceDefinition[] {
  const common = {
    ...admissionregistrationVersion(naming),
    namespaced: false,
    categories: ['api-extensions'],
    allowsUnconditionalUpdate: false,
  };
  const mutating = mutatingPolicies(naming);
  return [
    ...mutating,
    defineResource({
      ...common,
      kind: 'MutatingWebhookConfiguration',
      plural: 'mutatingwebhookconfigurations',
      strategy: webhookConfigurationStrategy({ mutates: true }),
      table: webhookConfigurationTable,
    }),
    defineResource({
      ...common,
      kind: 'ValidatingAdmissionPolicy',
      plural: 'validatingadmissionpolicies',
      strategy: validatingPolicyStrategy,
      table: validatingPolicyTable,
      subresources: { status: statusLens({ keepsMetadata: true }) },
    }),
    defineResource({
      ...common,
      kind: 'ValidatingAdmissionPolicyBinding',
      plural: 'validatingadmissionpolicybindings',
      strategy: validatingBindingStrategy,
      table: bindingTable,
    }),
    defineResource({
      ...common,
      kind: 'ValidatingWebhookConfiguration',
      plural: 'validatingwebhookconfigurations',
      strategy: webhookConfigurationStrategy({ mutates: false }),
      table: webhookConfigurationTable,
    }),
  ];
}

/** Mutating policies came through every level of stability, with the same fields at each. */
function mutatingPolicies(naming: NamingProfile): readonly ResourceDefinition[] {
  const common = {
    ...admissionregistrationVersion(naming),
    namespaced: false,
    categories: ['api-extensions'],
    allowsUnconditionalUpdate: false,
  };
  return [
    defineResource({
      ...common,
      kind: 'MutatingAdmissionPolicy',
      plural: 'mutatingadmissionpolicies',
      strategy: mutatingPolicyStrategy,
      table: mutatingPolicyTable,
    }),
    defineResource({
      ...common,
      kind: 'MutatingAdmissionPolicyBinding',
      plural: 'mutatingadmissionpolicybindings',
      strategy: mutatingBindingStrategy,
      table: bindingTable,
    }),
  ];
}

export function earlierMutatingPolicies(
  naming: NamingProfile,
  version: 'v1beta1' | 'v1alpha1',
): readonly ResourceDefinition[] {
  return mutatingPolicies(naming).map((stored) => otherVersion(stored, { version }));
}

import type { NamingProfile } from '../../config/naming-profile.js';
import {
  defineResource,
  otherVersion,
  type ResourceDefinition,
} from '../../registry/definition/resource-definition.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import { bindingTable, mutatingPolicyTable, validatingPolicyTable } from './policy.table.js';
import { mutatingBindingStrategy, validatingBindingStrategy } from './policy-binding.strategy.js';
import { mutatingPolicyStrategy, validatingPolicyStrategy } from './policy.strategy.js';
import { withReservedNames } from './reserved-names.strategy.js';
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
  return [
    ...mutatingPolicies(naming, 'v1'),
    defineResource({
      ...common,
      kind: 'MutatingWebhookConfiguration',
      plural: 'mutatingwebhookconfigurations',
      strategy: withReservedNames(webhookConfigurationStrategy({ mutates: true }), naming),
      table: webhookConfigurationTable,
    }),
    defineResource({
      ...common,
      kind: 'ValidatingAdmissionPolicy',
      plural: 'validatingadmissionpolicies',
      strategy: withReservedNames(validatingPolicyStrategy, naming),
      table: validatingPolicyTable,
      subresources: { status: statusSubresource({ keepsMetadata: true }) },
    }),
    defineResource({
      ...common,
      kind: 'ValidatingAdmissionPolicyBinding',
      plural: 'validatingadmissionpolicybindings',
      strategy: withReservedNames(validatingBindingStrategy, naming),
      table: bindingTable,
    }),
    defineResource({
      ...common,
      kind: 'ValidatingWebhookConfiguration',
      plural: 'validatingwebhookconfigurations',
      strategy: withReservedNames(webhookConfigurationStrategy({ mutates: false }), naming),
      table: webhookConfigurationTable,
    }),
  ];
}

/**
 * Mutating policies in one of their versions, which all have the same fields. Stored as v1beta1, as kube-apiserver 1.36
 * stores them, so that a kube-apiserver 1.35 can read them.
 */
export function mutatingPolicies(
  naming: NamingProfile,
  version: 'v1' | 'v1beta1' | 'v1alpha1',
): readonly ResourceDefinition[] {
  const stored = storedMutatingPolicies(naming);
  return version === 'v1beta1' ? stored : stored.map((definition) => otherVersion(definition, { version }));
}

function storedMutatingPolicies(naming: NamingProfile): readonly ResourceDefinition[] {
  const common = {
    ...admissionregistrationVersion(naming),
    version: 'v1beta1',
    namespaced: false,
    categories: ['api-extensions'],
    allowsUnconditionalUpdate: false,
  };
  return [
    defineResource({
      ...common,
      kind: 'MutatingAdmissionPolicy',
      plural: 'mutatingadmissionpolicies',
      strategy: withReservedNames(mutatingPolicyStrategy, naming),
      table: mutatingPolicyTable,
    }),
    defineResource({
      ...common,
      kind: 'MutatingAdmissionPolicyBinding',
      plural: 'mutatingadmissionpolicybindings',
      strategy: withReservedNames(mutatingBindingStrategy, naming),
      table: bindingTable,
    }),
  ];
}

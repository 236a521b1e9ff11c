import type { Served, ServedResource } from '../../registry/resource-registry.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { PolicyEnforcement, type SelectedPolicy } from '../policies/enforce-policies.js';
import { compilePolicy } from '../policies/compiled-policy.js';
import type { BoundPolicy } from '../policies/policy-book.js';
import { PolicyBooks } from '../policies/policy-books.js';
import { PolicyTrace } from '../policies/trace-policy.js';
import { MatchedRequest } from '../request/matched-request.js';

const validatingPolicies = {
  policies: 'validatingadmissionpolicies',
  bindings: 'validatingadmissionpolicybindings',
  compile: compilePolicy,
};

/** Enforces ValidatingAdmissionPolicies (KEP-3488). A request to a server without a policy costs one look at a list. */
export const validatingAdmissionPolicy = defineAdmissionPlugin({
  name: 'ValidatingAdmissionPolicy',
  runs: 'by default',
  make(dependencies) {
    const { objects, policyObjects } = dependencies;
    const equivalentsOf = (served: ServedResource) => policyObjects.equivalentsOf(served);
    const books = new PolicyBooks(dependencies, 'ValidatingAdmissionPolicy', validatingPolicies);
    const enforce = (attributes: AdmissionAttributes, policies: readonly BoundPolicy[]): void | Promise<void> => {
      if (policies.length === 0 || !isServed(attributes)) return undefined;
      const request = new MatchedRequest(attributes, objects, equivalentsOf);
      const selected: SelectedPolicy[] = [];
      for (const { policy, bindings } of policies) {
        const form = policy.match.formOf(request);
        if (form) selected.push({ policy, bindings, form });
        else new PolicyTrace(request, 'ValidatingAdmissionPolicy').skip(policy.name, undefined, false);
      }
      return selected.length === 0 ? undefined : new PolicyEnforcement(request, dependencies).enforce(selected);
    };
    return {
      actsOnUnchanged: (update) => books.maySelect(update),
      validate(attributes) {
        const policies = books.policiesFor(attributes);
        return policies instanceof Promise
          ? policies.then((current) => enforce(attributes, current))
          : enforce(attributes, policies);
      },
    };
  },
});

const isServed = (attributes: AdmissionAttributes): attributes is AdmissionAttributes & { readonly served: Served } =>
  attributes.served !== undefined;

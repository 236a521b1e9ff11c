import type { Served } from '../../registry/resource-registry.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import { PolicyEnforcement } from '../policies/enforce-policies.js';
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
    const books = new PolicyBooks(dependencies, 'ValidatingAdmissionPolicy', validatingPolicies);
    const enforce = (attributes: AdmissionAttributes, policies: readonly BoundPolicy[]): void | Promise<void> => {
      const { served } = attributes;
      if (policies.length === 0 || !served) return undefined;
      const request = requestOf({ ...attributes, served }, dependencies);
      const selected = policies.flatMap(({ policy, bindings }) => {
        const form = policy.match.formOf(request);
        if (!form) new PolicyTrace(request, 'ValidatingAdmissionPolicy').skip(policy.name, undefined, false);
        return form ? [{ policy, bindings, form }] : [];
      });
      return selected.length === 0 ? undefined : new PolicyEnforcement(request, dependencies).enforce(selected);
    };
    return {
      validate(attributes) {
        const policies = books.policiesFor(attributes.resource);
        return policies instanceof Promise
          ? policies.then((current) => enforce(attributes, current))
          : enforce(attributes, policies);
      },
    };
  },
});

const requestOf = (
  attributes: AdmissionAttributes & { readonly served: Served },
  { objects, policyObjects }: PluginDependencies,
): MatchedRequest => new MatchedRequest(attributes, objects, (served) => policyObjects.equivalentsOf(served));

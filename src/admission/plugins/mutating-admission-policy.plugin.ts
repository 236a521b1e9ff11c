import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { compileMutatingPolicy, type CompiledMutatingPolicy } from '../policies/compiled-policy.js';
import { exemptFromPolicies } from '../policies/exempt-resources.js';
import { PolicyMutation } from '../policies/mutate-object.js';
import { PolicyBook, type BoundPolicy } from '../policies/policy-book.js';
import { MatchedRequest } from '../request/matched-request.js';

const mutatingPolicies = {
  policies: 'mutatingadmissionpolicies',
  bindings: 'mutatingadmissionpolicybindings',
  compile: compileMutatingPolicy,
};

/**
 * Applies MutatingAdmissionPolicies (KEP-3962). If one has changed the object, all plug-ins run again, and of the policies
 * those with reinvocationPolicy IfNeeded.
 */
export const mutatingAdmissionPolicy = defineAdmissionPlugin({
  name: 'MutatingAdmissionPolicy',
  runs: 'by default',
  make(dependencies) {
    const { policyObjects, naming, clock, objects } = dependencies;
    const book = new PolicyBook(policyObjects, naming.group('admissionregistration'), mutatingPolicies, clock);
    const isExempt = exemptFromPolicies(naming);
    /** Keys of the policies that run again, for requests whose object has changed. */
    const changed = new WeakMap<AdmissionAttributes, ReadonlySet<string>>();

    const mutate = (
      attributes: AdmissionAttributes,
      policies: readonly BoundPolicy<CompiledMutatingPolicy>[],
    ): Promise<void> | undefined => {
      const { served, resource, object, operation } = attributes;
      if (policies.length === 0 || !served || !object || operation === 'DELETE' || isExempt(resource)) return undefined;
      const keys = changed.get(attributes);
      changed.delete(attributes);
      const withServed = attributes as AdmissionAttributes & { readonly served: typeof served };
      const request = new MatchedRequest(withServed, objects, (one) => policyObjects.equivalentsOf(one));
      const selected = policies.flatMap(({ policy, bindings }) => {
        const form = policy.match.formOf(request);
        return form ? [{ policy, bindings, form }] : [];
      });
      if (selected.length === 0) return undefined;
      const mutation = new PolicyMutation(request, dependencies);
      return mutation.run(selected, keys).then(() => {
        if (!keys && mutation.hasChanged) changed.set(attributes, mutation.reinvoked);
      });
    };
    return {
      admit(attributes) {
        const policies = book.current();
        return policies instanceof Promise
          ? policies.then((current) => mutate(attributes, current))
          : mutate(attributes, policies);
      },
      needsReinvocation: (attributes) => changed.has(attributes),
    };
  },
});

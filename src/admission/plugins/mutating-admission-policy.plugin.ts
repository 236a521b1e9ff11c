import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { compileMutatingPolicy, type CompiledMutatingPolicy } from '../policies/compiled-policy.js';
import { PolicyMutation } from '../policies/mutate-object.js';
import type { BoundPolicy } from '../policies/policy-book.js';
import { PolicyBooks } from '../policies/policy-books.js';
import { Reinvocation } from '../request/reinvocation.js';
import { PolicyTrace } from '../policies/trace-policy.js';
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
    const { policyObjects, objects } = dependencies;
    const books = new PolicyBooks(dependencies, 'MutatingAdmissionPolicy', mutatingPolicies);
    /** Policies that have run, of requests for which some run again after changes of the object. */
    const rounds = new WeakMap<AdmissionAttributes, Reinvocation>();

    const mutate = (
      attributes: AdmissionAttributes,
      policies: readonly BoundPolicy<CompiledMutatingPolicy>[],
      isReinvocation: boolean,
    ): Promise<void> | undefined => {
      const { served, object, operation } = attributes;
      if (policies.length === 0 || !served || !object || operation === 'DELETE') return undefined;
      const reinvocation = isReinvocation ? rounds.get(attributes) : new Reinvocation();
      if (!reinvocation) return undefined;
      if (isReinvocation) {
        reinvocation.beginAgain(object);
        if (!reinvocation.hasDue) return undefined;
      }
      const withServed = attributes as AdmissionAttributes & { readonly served: typeof served };
      const request = new MatchedRequest(withServed, objects, (one) => policyObjects.equivalentsOf(one));
      const selected = policies.flatMap(({ policy, bindings }) => {
        const form = policy.match.formOf(request);
        if (!form) new PolicyTrace(request, 'MutatingAdmissionPolicy').skip(policy.name, undefined, false);
        return form ? [{ policy, bindings, form }] : [];
      });
      if (selected.length === 0) return undefined;
      return new PolicyMutation(request, dependencies, reinvocation).run(selected, isReinvocation).then(() => {
        if (isReinvocation) return;
        reinvocation.endRound(object);
        rounds.set(attributes, reinvocation);
      });
    };
    return {
      actsOnUnchanged: (update) => books.maySelect(update),
      admit(attributes, isReinvocation = false) {
        const policies = books.policiesFor(attributes);
        return policies instanceof Promise
          ? policies.then((current) => mutate(attributes, current, isReinvocation))
          : mutate(attributes, policies, isReinvocation);
      },
      needsReinvocation: (attributes) => rounds.get(attributes)?.hasChanged ?? false,
    };
  },
});

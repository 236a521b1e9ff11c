import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { MatchedRequest } from '../request/matched-request.js';
import { mutateByWebhooks } from '../webhooks/mutate-by-webhooks.js';
import { Reinvocation } from '../request/reinvocation.js';
import { WebhookBooks } from '../webhooks/webhook-books.js';

/**
 * Calls mutating webhooks. If one has changed the object, all plug-ins run again, and of the webhooks those with
 * reinvocationPolicy IfNeeded.
 */
export const mutatingAdmissionWebhook = defineAdmissionPlugin({
  name: 'MutatingAdmissionWebhook',
  runs: 'by default',
  make(dependencies) {
    const { policyObjects, objects } = dependencies;
    const book = new WebhookBooks(dependencies, 'admit');
    const reinvocations = new WeakMap<AdmissionAttributes, Reinvocation>();

    const mutate = (attributes: AdmissionAttributes, isReinvocation: boolean): Promise<void> | undefined => {
      const { served, operation, resource, object } = attributes;
      if (!served) return undefined;
      const webhooks = book.webhooksFor(served, operation, resource);
      if (webhooks.length === 0) return undefined;
      const reinvocation = isReinvocation ? reinvocations.get(attributes) : new Reinvocation();
      if (!reinvocation) return undefined;
      if (isReinvocation && object) {
        reinvocation.beginAgain(object);
        if (!reinvocation.hasDue) return undefined;
      }
      const withServed = attributes as AdmissionAttributes & { readonly served: typeof served };
      const request = new MatchedRequest(withServed, objects, (one) => policyObjects.equivalentsOf(one));
      const round = isReinvocation ? 1 : 0;
      return mutateByWebhooks(request, webhooks, dependencies, { reinvocation, round }).then(() => {
        if (isReinvocation || !object) return;
        reinvocation.endRound(object);
        reinvocations.set(attributes, reinvocation);
      });
    };
    const whenCurrent = (attributes: AdmissionAttributes, isReinvocation: boolean) => {
      const updating = book.whenCurrent();
      return updating ? updating.then(() => mutate(attributes, isReinvocation)) : mutate(attributes, isReinvocation);
    };
    return {
      actsOnUnchanged: (update) => book.maySelect(update),
      admit(attributes, isReinvocation = false) {
        // The object of a deletion is known only when it is validated.
        return attributes.operation === 'DELETE' ? undefined : whenCurrent(attributes, isReinvocation);
      },
      needsReinvocation: (attributes) => reinvocations.get(attributes)?.hasChanged ?? false,
      validate(attributes) {
        return attributes.operation === 'DELETE' ? whenCurrent(attributes, false) : undefined;
      },
    };
  },
});

import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { MatchedRequest } from '../request/matched-request.js';
import { validateByWebhooks } from '../webhooks/validate-by-webhooks.js';
import { WebhookBooks } from '../webhooks/webhook-books.js';

/** Calls validating webhooks. A write that no configuration selects costs two look-ups. */
export const validatingAdmissionWebhook = defineAdmissionPlugin({
  name: 'ValidatingAdmissionWebhook',
  runs: 'by default',
  make(dependencies) {
    const { policyObjects, objects } = dependencies;
    const book = new WebhookBooks(dependencies, 'validating');
    const validate = (attributes: AdmissionAttributes): Promise<void> | undefined => {
      const { served, operation, resource } = attributes;
      if (!served) return undefined;
      const webhooks = book.webhooksFor(served, operation, resource);
      if (webhooks.length === 0) return undefined;
      const request = new MatchedRequest({ ...attributes, served }, objects, (one) => policyObjects.equivalentsOf(one));
      return validateByWebhooks(request, webhooks, dependencies);
    };
    return {
      actsOnUnchanged: (update) => book.maySelect(update),
      validate(attributes) {
        const updating = book.whenCurrent();
        return updating ? updating.then(() => validate(attributes)) : validate(attributes);
      },
    };
  },
});

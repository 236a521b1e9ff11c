import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { MatchedRequest } from '../request/matched-request.js';
import { exemptFromWebhooks } from '../webhooks/exempt-configurations.js';
import { validateByWebhooks } from '../webhooks/validate-by-webhooks.js';
import { WebhookBook } from '../webhooks/webhook-book.js';

/** Calls validating webhooks. A write that no configuration selects costs two look-ups. */
export const validatingAdmissionWebhook = defineAdmissionPlugin({
  name: 'ValidatingAdmissionWebhook',
  runs: 'by default',
  make(dependencies) {
    const { policyObjects, naming, objects } = dependencies;
    const book = new WebhookBook(dependencies, 'validating');
    const isExempt = exemptFromWebhooks(naming);
    const validate = (attributes: AdmissionAttributes): Promise<void> | undefined => {
      const { served, operation, resource } = attributes;
      if (book.isEmpty || !served) return undefined;
      const webhooks = book.webhooksFor(served, operation);
      if (webhooks.length === 0 || isExempt(resource)) return undefined;
      const request = new MatchedRequest({ ...attributes, served }, objects, (one) => policyObjects.equivalentsOf(one));
      return validateByWebhooks(request, webhooks, dependencies);
    };
    return {
      validate(attributes) {
        const updating = book.whenCurrent();
        return updating ? updating.then(() => validate(attributes)) : validate(attributes);
      },
    };
  },
});

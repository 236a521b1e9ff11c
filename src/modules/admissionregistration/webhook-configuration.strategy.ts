import { asFields, asItems, fillIn, isSet, makeFields, type Fields } from '../../machinery/fields.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { fillMatch } from './match.defaults.js';
import { validateWebhooks, validateWebhooksUpdate } from './webhook.validation.js';

const timeoutSecondsDefault = 10;
const portDefault = 443;

export function webhookConfigurationStrategy({ mutates }: { readonly mutates: boolean }): Strategy {
  return {
    validateName: nameIsDnsSubdomain,
    countsGenerations: true,
    default(configuration) {
      for (const webhook of asItems(configuration['webhooks'])) fillWebhook(webhook, mutates);
    },
    validateCreate: (configuration) => validateWebhooks(configuration['webhooks'], { mutates }),
    validateUpdate: (configuration, old) =>
      validateWebhooksUpdate(configuration['webhooks'], old['webhooks'], { mutates }),
  };
}

function fillWebhook(webhook: Fields, mutates: boolean): void {
  fillIn(webhook, 'failurePolicy', 'Fail');
  fillMatch(webhook, 'rules');
  fillIn(webhook, 'timeoutSeconds', timeoutSecondsDefault);
  if (mutates) fillIn(webhook, 'reinvocationPolicy', 'Never');
  const client = makeFields(webhook, 'clientConfig');
  if (isSet(client['service'])) fillIn(asFields(client['service']), 'port', portDefault);
  // An empty bundle says nothing.
  if (client['caBundle'] === '') delete client['caBundle'];
}

import type { MutatingWebhook, MutatingWebhookConfiguration } from '../../catalog/types/admissionregistration.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { defaultMatch } from './match.defaults.js';
import { validateWebhooks, validateWebhooksUpdate } from './webhook.validation.js';

const timeoutSecondsDefault = 10;
const portDefault = 443;

/** The strategy of both kinds: validating webhooks have the fields of mutating ones but reinvocationPolicy. */
export function webhookConfigurationStrategy({
  mutates,
}: {
  readonly mutates: boolean;
}): Strategy<MutatingWebhookConfiguration> {
  return {
    validateName: nameIsDnsSubdomain,
    countsGenerations: true,
    default(configuration) {
      for (const webhook of configuration.webhooks ?? []) defaultWebhook(webhook, mutates);
    },
    validateInSteps: ({ webhooks }, old) =>
      old ? validateWebhooksUpdate(webhooks, old.webhooks, { mutates }) : validateWebhooks(webhooks, { mutates }),
  };
}

function defaultWebhook(webhook: Mutable<MutatingWebhook>, mutates: boolean): void {
  webhook.failurePolicy ??= 'Fail';
  defaultMatch(webhook, webhook.rules);
  webhook.timeoutSeconds ??= timeoutSecondsDefault;
  if (mutates) webhook.reinvocationPolicy ??= 'Never';
  const client = (webhook.clientConfig ??= {});
  if (client.service) client.service.port ??= portDefault;
  if (client.caBundle === '') delete client.caBundle;
}

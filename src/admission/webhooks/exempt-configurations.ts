import type { NamingProfile } from '../../config/naming-profile.js';
import type { GroupResource } from '../../machinery/gvk.js';

const exempt: ReadonlySet<string> = new Set([
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'mutatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'validatingwebhookconfigurations',
]);

/**
 * Returns a function that finds the resources for which no webhook is called: those that configure admission, so that an
 * administrator can repair them whatever the webhooks do.
 */
export function exemptFromWebhooks(naming: NamingProfile): (resource: GroupResource) => boolean {
  const own = naming.group('admissionregistration');
  return ({ group, resource }) => group === own && exempt.has(resource);
}

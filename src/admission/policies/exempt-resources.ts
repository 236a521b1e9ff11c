import type { NamingProfile } from '../../config/naming-profile.js';
import type { GroupResource } from '../../machinery/gvk.js';

/** Returns a function that finds the resources which no policy can match: reviews, on which the cluster depends. */
export function exemptFromPolicies(naming: NamingProfile): (resource: GroupResource) => boolean {
  const accessReviews = ['localsubjectaccessreviews', 'selfsubjectaccessreviews', 'subjectaccessreviews'];
  const exempt = new Map([
    [naming.group('authentication'), new Set(['selfsubjectreviews', 'tokenreviews'])],
    [naming.group('authorization'), new Set([...accessReviews, 'selfsubjectrulesreviews'])],
  ]);
  return ({ group, resource }) => exempt.get(group)?.has(resource) ?? false;
}

const policies: ReadonlySet<string> = new Set([
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
]);

/**
 * Returns a function that finds the resources which no stored policy can match: policies and bindings, which must stay
 * changeable whatever the stored policies say.
 */
export function exemptFromStoredPolicies(naming: NamingProfile): (resource: GroupResource) => boolean {
  const own = naming.group('admissionregistration');
  return ({ group, resource }) => group === own && policies.has(resource);
}

import type { NamingProfile } from '../../config/naming-profile.js';
import type { GroupResource } from '../../machinery/gvk.js';

/**
 * Returns a function that finds the resources which no policy can match: policies and bindings, which must stay
 * changeable whatever the policies say, and reviews, on which the cluster depends.
 */
export function exemptFromPolicies(naming: NamingProfile): (resource: GroupResource) => boolean {
  const policies = ['validatingadmissionpolicies', 'mutatingadmissionpolicies'];
  const bindings = ['validatingadmissionpolicybindings', 'mutatingadmissionpolicybindings'];
  const accessReviews = ['localsubjectaccessreviews', 'selfsubjectaccessreviews', 'subjectaccessreviews'];
  const exempt = new Map([
    [naming.group('admissionregistration'), new Set([...policies, ...bindings])],
    [naming.group('authentication'), new Set(['selfsubjectreviews', 'tokenreviews'])],
    [naming.group('authorization'), new Set([...accessReviews, 'selfsubjectrulesreviews'])],
  ]);
  return ({ group, resource }) => exempt.get(group)?.has(resource) ?? false;
}

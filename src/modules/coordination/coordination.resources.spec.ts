import { namingProfile } from '../../config/naming-profile.js';
import { hasWholeRows, linesOf, versionsOf } from '../../../test/harness/definitions.js';
import { coordinationResources } from './coordination.resources.js';

const { v1, v1beta1, v1alpha2 } = coordinationResources(namingProfile('kubernetes'));

it('the served resources, their names and their verbs', () => {
  expect(linesOf([...v1, ...v1beta1])).toEqual([
    'leases Lease - leases - - nc--',
    'leasecandidates LeaseCandidate - leasecandidates - - nc--',
  ]);
  expect(versionsOf([...v1beta1, ...v1alpha2])).toEqual([
    'leasecandidates@v1beta1',
    'leasecandidates@v1alpha2<v1beta1',
  ]);
  expect([...v1, ...v1beta1].every(hasWholeRows)).toBe(true);
});

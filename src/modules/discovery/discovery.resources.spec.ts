import { namingProfile } from '../../config/naming-profile.js';
import { hasWholeRows, linesOf } from '../../../test/harness/definitions.js';
import { discoveryResources } from './discovery.resources.js';

it('the served resources, their names and their verbs', () => {
  const v1 = discoveryResources(namingProfile('kubernetes'));
  expect(linesOf(v1)).toEqual(['endpointslices EndpointSlice - endpointslices - - ncu-']);
  expect(v1.every(hasWholeRows)).toBe(true);
});

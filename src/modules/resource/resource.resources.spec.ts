import { namingProfile } from '../../config/naming-profile.js';
import { hasWholeRows, linesOf, versionsOf } from '../../../test/harness/definitions.js';
import { resourceResources } from './resource.resources.js';

const { v1, v1beta2, v1beta1, v1alpha3 } = resourceResources(namingProfile('kubernetes'));

it('the served resources, their names and their verbs', () => {
  expect(linesOf([...v1, ...v1beta2.slice(v1.length), ...v1alpha3.slice(1)])).toEqual([
    'deviceclasses DeviceClass - deviceclasses - - --ud',
    'resourceclaims ResourceClaim - resourceclaims status - n-ud',
    'resourceclaimtemplates ResourceClaimTemplate - resourceclaimtemplates - - n-ud',
    'resourceslices ResourceSlice - resourceslices - spec.nodeName,spec.driver --ud',
    'devicetaintrules DeviceTaintRule - devicetaintrules status - --ud',
    'resourcepoolstatusrequests ResourcePoolStatusRequest - resourcepoolstatusrequests status - --ud',
  ]);
  const four = ['deviceclasses', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices'];
  expect(versionsOf([...v1beta2, ...v1beta1, ...v1alpha3])).toEqual([
    ...four.map((plural) => `${plural}@v1beta2<v1`),
    'devicetaintrules@v1beta2<v1alpha3',
    ...four.map((plural) => `${plural}@v1beta1<v1`),
    'devicetaintrules@v1alpha3',
    'resourcepoolstatusrequests@v1alpha3',
  ]);
  expect([...v1, ...v1beta2, ...v1alpha3].every(hasWholeRows)).toBe(true);
});

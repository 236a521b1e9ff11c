import { namingProfile } from '../../config/naming-profile.js';
import { hasWholeRows, linesOf, versionsOf } from '../../../test/harness/definitions.js';
import { schedulingResources } from './scheduling.resources.js';

const { v1, v1alpha2 } = schedulingResources(namingProfile('kubernetes'));

it('the served resources, their names and their verbs', () => {
  expect(linesOf([...v1, ...v1alpha2])).toEqual([
    'priorityclasses PriorityClass pc priorityclasses - - --u-',
    'podgroups PodGroup - podgroups status - n-u-',
    'workloads Workload - workloads - - n-u-',
  ]);
  expect(versionsOf([...v1, ...v1alpha2])).toEqual(['priorityclasses@v1', 'podgroups@v1alpha2', 'workloads@v1alpha2']);
  expect([...v1, ...v1alpha2].every(hasWholeRows)).toBe(true);
});

import { namingProfile } from '../../config/naming-profile.js';
import { hasWholeRows, linesOf } from '../../../test/harness/definitions.js';
import { nodeResources } from './node.resources.js';

it('the served resources, their names and their verbs', () => {
  const v1 = nodeResources(namingProfile('kubernetes'));
  expect(linesOf(v1)).toEqual(['runtimeclasses RuntimeClass - runtimeclasses - - ----']);
  expect(v1.every(hasWholeRows)).toBe(true);
});

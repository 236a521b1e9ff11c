import { namingProfile } from '../../config/naming-profile.js';
import { hasWholeRows, linesOf, versionsOf } from '../../../test/harness/definitions.js';
import { storageMigrationResources } from './storagemigration.resources.js';

it('the served resources, their names and their verbs', () => {
  const v1beta1 = storageMigrationResources(namingProfile('kubernetes'));
  expect(linesOf(v1beta1)).toEqual([
    'storageversionmigrations StorageVersionMigration - storageversionmigrations status - --u-',
  ]);
  expect(versionsOf(v1beta1)).toEqual(['storageversionmigrations@v1beta1']);
  expect(v1beta1.every(hasWholeRows)).toBe(true);
});

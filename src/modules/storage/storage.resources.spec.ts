import { namingProfile } from '../../config/naming-profile.js';
import { hasWholeRows, linesOf, versionsOf } from '../../../test/harness/definitions.js';
import { storageResources } from './storage.resources.js';

const { v1, v1beta1 } = storageResources(namingProfile('kubernetes'));

it('the served resources, their names and their verbs', () => {
  expect(linesOf(v1)).toEqual([
    'csidrivers CSIDriver - csidrivers - - ---d',
    'csinodes CSINode - csinodes - - ---d',
    'csistoragecapacities CSIStorageCapacity - csistoragecapacities - - n---',
    'storageclasses StorageClass sc storageclasses - - --ud',
    'volumeattachments VolumeAttachment - volumeattachments status - ---d',
    'volumeattributesclasses VolumeAttributesClass vac volumeattributesclasses - - --ud',
  ]);
  expect(versionsOf(v1beta1)).toEqual(['volumeattributesclasses@v1beta1<v1']);
  expect(v1.every(hasWholeRows)).toBe(true);
});

import { admitted, hooksOf } from '../../../test/harness/admission.js';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.plugin.js';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.plugin.js';

it.each([
  { of: '/persistentvolumeclaims', given: undefined, want: ['kubernetes.io/pvc-protection'] },
  { of: '/persistentvolumeclaims', given: ['kubernetes.io/pvc-protection'], want: ['kubernetes.io/pvc-protection'] },
  { of: '/persistentvolumes', given: ['example.com/f'], want: ['example.com/f', 'kubernetes.io/pv-protection'] },
  { of: 'storage.k8s.io/volumeattributesclasses', given: undefined, want: ['kubernetes.io/vac-protection'] },
  { of: '/pods', given: undefined, want: undefined },
])('StorageObjectInUseProtection: new $of with finalizers $given has $want', async ({ of, given, want }) => {
  const object = { metadata: { name: 'x', ...(given && { finalizers: given }) } };
  const outcome = await admitted(hooksOf(storageObjectInUseProtection), { of, object });
  expect(outcome.object!.metadata.finalizers).toEqual(want);
});

const claim = (storage: string, storageClassName = 'expandable', phase = 'Bound') => ({
  metadata: { name: 'c' },
  spec: { storageClassName, resources: { requests: { storage } } },
  status: { phase },
});
const notResizable =
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

it.each([
  { name: 'accepted if its StorageClass allows expansion', object: claim('2Gi'), old: claim('1Gi'), want: undefined },
  {
    name: 'accepted if the size is the same',
    object: claim('1024Mi', 'fixed'),
    old: claim('1Gi', 'fixed'),
    want: undefined,
  },
  {
    name: 'refused before the claim is bound',
    object: claim('2Gi'),
    old: claim('1Gi', 'expandable', 'Pending'),
    want: 'Only bound persistent volume claims can be expanded',
  },
  {
    name: 'refused if its StorageClass does not allow expansion',
    object: claim('2Gi', 'fixed'),
    old: claim('1Gi', 'fixed'),
    want: notResizable,
  },
  { name: 'refused without a StorageClass', object: claim('2Gi', ''), old: claim('1Gi', ''), want: notResizable },
  {
    name: 'refused if the StorageClass does not exist',
    object: claim('2Gi', 'gone'),
    old: claim('1Gi', 'gone'),
    want: notResizable,
  },
])('expansion of a claim: $name', async ({ object, old, want }) => {
  const known = {
    'storage.k8s.io/storageclasses': [
      { metadata: { name: 'expandable' }, allowVolumeExpansion: true },
      { metadata: { name: 'fixed' } },
    ],
  };
  const plugin = hooksOf(persistentVolumeClaimResize, { known });
  expect((await admitted(plugin, { of: '/persistentvolumeclaims', object, old })).refused).toBe(want);
});

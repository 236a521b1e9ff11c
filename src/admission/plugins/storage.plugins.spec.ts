import { admitted, pluginParts } from '../../../test/harness/admission.js';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.plugin.js';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.plugin.js';

it.each([
  { of: '/persistentvolumeclaims', given: undefined, want: ['kubernetes.io/pvc-protection'] },
  { of: '/persistentvolumeclaims', given: ['kubernetes.io/pvc-protection'], want: ['kubernetes.io/pvc-protection'] },
  { of: '/persistentvolumes', given: ['example.com/f'], want: ['example.com/f', 'kubernetes.io/pv-protection'] },
  { of: 'storage.k8s.io/volumeattributesclasses', given: undefined, want: ['kubernetes.io/vac-protection'] },
  { of: '/pods', given: undefined, want: undefined },
])('new $of with $given are held by $want', async ({ of, given, want }) => {
  const object = { metadata: { name: 'x', ...(given && { finalizers: given }) } };
  const outcome = await admitted(storageObjectInUseProtection(pluginParts()), { of, object });
  expect(outcome.object!.metadata.finalizers).toEqual(want);
});

const claim = (storage: string, storageClassName = 'grows', phase = 'Bound') => ({
  metadata: { name: 'c' },
  spec: { storageClassName, resources: { requests: { storage } } },
  status: { phase },
});
const cannotGrow =
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

it.each([
  { name: 'where its class allows', object: claim('2Gi'), old: claim('1Gi'), want: undefined },
  { name: 'not to what it is already', object: claim('1024Mi', 'fixed'), old: claim('1Gi', 'fixed'), want: undefined },
  {
    name: 'not before it is bound',
    object: claim('2Gi'),
    old: claim('1Gi', 'grows', 'Pending'),
    want: 'Only bound persistent volume claims can be expanded',
  },
  {
    name: 'not where its class forbids it',
    object: claim('2Gi', 'fixed'),
    old: claim('1Gi', 'fixed'),
    want: cannotGrow,
  },
  { name: 'not without a class', object: claim('2Gi', ''), old: claim('1Gi', ''), want: cannotGrow },
  { name: 'not with a class that is gone', object: claim('2Gi', 'gone'), old: claim('1Gi', 'gone'), want: cannotGrow },
])('a claim grows $name', async ({ object, old, want }) => {
  const known = {
    'storage.k8s.io/storageclasses': [
      { metadata: { name: 'grows' }, allowVolumeExpansion: true },
      { metadata: { name: 'fixed' } },
    ],
  };
  const plugin = persistentVolumeClaimResize(pluginParts({ known }));
  expect((await admitted(plugin, { of: '/persistentvolumeclaims', object, old })).refused).toBe(want);
});

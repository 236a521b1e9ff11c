import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, testContext, texts, updateRefusals } from '../../../test/harness/strategies.js';
import { volumeAttachmentStatusSubresource, volumeAttachmentStrategy } from './volume-attachment.strategy.js';
import { volumeAttachmentTable } from './volume-attachment.table.js';

const attachment = (spec: object, status?: object): KubeObject => ({
  kind: 'VolumeAttachment',
  apiVersion: 'storage.k8s.io/v1',
  metadata: { name: 'a' },
  spec: { attacher: 'csi.example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' }, ...spec },
  ...(status && { status }),
});
const inline = (volume: object) => ({ source: { inlineVolumeSpec: volume } });
const csi = { driver: 'csi.example.com', volumeHandle: 'h' };
const oneSource = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
const inlineAt = 'spec.source.inlineVolumeSpec';

it.each<[string, object, string[]]>([
  ['a PersistentVolume', {}, []],
  ['an inline CSI volume', inline({ csi, accessModes: ['ReadWriteOnce'] }), []],
  ['no attacher', { attacher: '' }, ['spec.attacher: Required value']],
  ['no source', { source: {} }, [`spec.source: Required value: ${oneSource}`]],
  [
    'two sources',
    { source: { persistentVolumeName: 'pv', inlineVolumeSpec: { csi } } },
    [`spec.source: Forbidden: ${oneSource}`],
  ],
  [
    'an empty PersistentVolume name',
    { source: { persistentVolumeName: '' } },
    ['spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName'],
  ],
  [
    'an inline volume without CSI source',
    inline({ accessModes: ['ReadWriteOnce'] }),
    [`${inlineAt}.csi: Required value`],
  ],
  [
    'an inline volume with a claimRef',
    inline({ csi, accessModes: ['ReadWriteOnce'], claimRef: { name: 'c' } }),
    [`${inlineAt}.claimRef: Forbidden: may not be specified in the context of inline volumes`],
  ],
])('an attachment with %s is validated', (_name, spec, want) =>
  expect(refusals(volumeAttachmentStrategy, attachment(spec))).toEqual(want),
);

it('spec is immutable and the error shows its Go fields', () =>
  expect(updateRefusals(volumeAttachmentStrategy, attachment({ nodeName: 'x' }), attachment({}))).toEqual([
    'spec: Invalid value: {"Attacher":"csi.example.com","Source":{"PersistentVolumeName":"pv","InlineVolumeSpec":null},"NodeName":"x"}: field is immutable',
  ]));

it('create resets the status to attached: false', () =>
  expect(prepared(volumeAttachmentStrategy, attachment({}, { attached: true }))['status']).toEqual({
    attached: false,
  }));

it.each<[object, string[]]>([
  [{ attached: true, attachError: { message: 'm' } }, []],
  [
    { detachError: { message: 'x'.repeat(1025) } },
    ['status.detachError.message: Too long: may not be more than 1024 bytes'],
  ],
  [
    { attachmentMetadata: { a: 'x'.repeat(262144) } },
    ['status.attachmentMetadata: Too long: may not be more than 262144 bytes'],
  ],
])('status %# is validated', (status, want) => {
  const changed = attachment({}, status);
  expect(texts(volumeAttachmentStatusSubresource.validate!(changed, attachment({}), testContext))).toEqual(want);
});

it('the table row of a VolumeAttachment', () => {
  const nowMs = 0;
  expect(volumeAttachmentTable.cells(attachment({}, { attached: true }), { nowMs })).toEqual([
    ...['a', 'csi.example.com', 'pv', 'n', true, '<unknown>'],
  ]);
});

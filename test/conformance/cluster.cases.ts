import { requestPem } from '../harness/certificate-texts.js';
import { del, get, invalid, keep, created, names, ok, patch, post, refused, type Step, type Table } from './case.js';

const requests = '/apis/{group:certificates}/v1/certificatesigningrequests';
const storage = '/apis/{group:storage}/v1';
const scheduling = '/apis/{group:scheduling}/v1';
const resource = '/apis/{group:resource}/v1';
const claims = `${resource}/namespaces/{ns}/resourceclaims`;
const request = Buffer.from(requestPem).toString('base64');
const aRequest: Step = keep(
  'r',
  post(requests, {
    metadata: { name: '{ns}' },
    spec: { signerName: 'example.com/{ns}', usages: ['client auth'], request, username: 'somebody', groups: ['all'] },
  }),
);
const condition = (type: string) => ({ type, status: 'True', reason: 'R' });
const decide = (...types: string[]) =>
  patch(`${requests}/{ns}/approval`, { status: { conditions: types.map(condition) } });

// prettier-ignore
export const certificateRequests: Table = {
  name: 'CertificateSigningRequests',
  rows: [
    ['create sets the requesting user and groups', [], aRequest, created({ spec: { username: expect.not.stringMatching('somebody') as unknown, groups: expect.not.arrayContaining(['all']) as unknown }, status: {} })],
    ['spec is immutable, and changes are ignored', [aRequest], patch(`${requests}/{ns}`, { spec: { signerName: 'example.com/other' }, status: { conditions: [condition('Approved')] } }), ok({ spec: { signerName: 'example.com/{ns}' }, status: {} })],
    ['the approval subresource sets Approved', [aRequest], decide('Approved'), ok({ status: { conditions: [condition('Approved')] } })],
    ['managedFields are not kept', [aRequest], get(`${requests}/{ns}`), ok({}, { absent: ['metadata.managedFields'] })],
    ['Approved and Denied together are rejected (422)', [aRequest], decide('Approved', 'Denied'), invalid('status.conditions')],
    ['an approval cannot be removed (422)', [aRequest, decide('Denied')], decide(), invalid('status.conditions')],
    ['status cannot set Approved (422)', [aRequest], patch(`${requests}/{ns}/status`, { status: { conditions: [condition('Approved')] } }), invalid('status.conditions')],
    ['an invalid certificate is rejected (422)', [aRequest, decide('Approved')], patch(`${requests}/{ns}/status`, { status: { certificate: 'eA==' } }), invalid('status.certificate')],
    ['requests are selected by spec.signerName', [aRequest], get(`${requests}?fieldSelector=spec.signerName=example.com/{ns}`), names('{ns}')],
    ['a request without spec.request is rejected (422)', [], post(requests, { metadata: { name: '{ns}' }, spec: { signerName: 'example.com/s', usages: ['any'] } }), invalid('spec.request')],
  ],
};

const aClass: Step = keep(
  'c',
  post(`${storage}/storageclasses`, { metadata: { name: '{ns}' }, provisioner: 'example.com/p' }),
);
const aDriver: Step = keep('d', post(`${storage}/csidrivers`, { metadata: { name: '{ns}' }, spec: {} }));
const attachments = `${storage}/volumeattachments`;
const anAttachment: Step = keep(
  'a',
  post(attachments, {
    metadata: { name: '{ns}' },
    spec: { attacher: 'example.com', nodeName: 'n', source: { persistentVolumeName: 'v' } },
    status: { attached: true },
  }),
);

// prettier-ignore
export const clusterParts: Table = {
  name: 'storage, priority and runtime classes',
  rows: [
    ['a StorageClass gets reclaimPolicy and volumeBindingMode by default', [], aClass, created({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' })],
    ['StorageClass parameters are immutable (422)', [aClass], patch(`${storage}/storageclasses/{ns}`, { parameters: { a: 'b' } }), invalid('parameters')],
    ['a deleted StorageClass is answered as an object', [aClass], del(`${storage}/storageclasses/{ns}`), ok({ kind: 'StorageClass', provisioner: 'example.com/p' })],
    ['a CSIDriver counts its generation', [aDriver], patch(`${storage}/csidrivers/{ns}`, { spec: { requiresRepublish: true } }), ok({ metadata: { generation: 1 } })],
    ['a new CSIDriver has no generation', [], aDriver, created({ spec: { attachRequired: true, volumeLifecycleModes: ['Persistent'] } }, { absent: ['metadata.generation'] })],
    ['a new VolumeAttachment is not attached', [], anAttachment, created({ status: { attached: false } })],
    ['VolumeAttachment status cannot change labels', [anAttachment], patch(`${attachments}/{ns}/status`, { metadata: { labels: { a: 'b' } }, status: { attached: true } }), ok({ status: { attached: true } }, { absent: ['metadata.labels'] })],
    ['the value of a PriorityClass is immutable (422)', [post(`${scheduling}/priorityclasses`, { metadata: { name: '{ns}' }, value: 5 })], patch(`${scheduling}/priorityclasses/{ns}`, { value: 6 }), invalid('value')],
    ['PriorityClass names with system- are rejected (422)', [], post(`${scheduling}/priorityclasses`, { metadata: { name: 'system-{ns}' }, value: 5 }), invalid('metadata.name')],
    ['a RuntimeClass without a handler is rejected (422)', [], post('/apis/{group:node}/v1/runtimeclasses', { metadata: { name: '{ns}' } }), invalid('handler')],
    ['RuntimeClass update without resourceVersion is rejected (422)', [post('/apis/{group:node}/v1/runtimeclasses', { metadata: { name: '{ns}' }, handler: 'h' })], { method: 'PUT', path: '/apis/{group:node}/v1/runtimeclasses/{ns}', body: { metadata: { name: '{ns}' }, handler: 'h' } }, refused(422, 'Invalid')],
  ],
};

const asking = { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } };
const aClaim: Step = keep('c', post(claims, { metadata: { name: 'c' }, spec: asking, status: { reservedFor: [] } }));
const result = { request: 'r', driver: 'dra.example.com', pool: 'p', device: 'd' };
const allocation = { devices: { results: [result] } };
const allocate = patch(`${claims}/c/status`, { status: { allocation } });
const slice = { driver: '{ns}.example.com', nodeName: 'n', pool: { name: 'p', resourceSliceCount: 1 } };
const taints = [{ key: 'k', effect: 'NoExecute' }];

// prettier-ignore
export const devices: Table = {
  name: 'devices',
  rows: [
    ['a ResourceClaim gets allocationMode and count by default', [], aClaim, created({ spec: { devices: { requests: [{ name: 'r', exactly: { allocationMode: 'ExactCount', count: 1 } }] } }, status: {} })],
    ['the spec of a ResourceClaim is immutable (422)', [aClaim], patch(`${claims}/c`, { spec: { devices: { requests: [] } } }), invalid('spec')],
    ['status sets the allocation of a ResourceClaim', [aClaim], allocate, ok({ status: { allocation } })],
    ['an allocation is immutable (422)', [aClaim, allocate], patch(`${claims}/c/status`, { status: { allocation: { devices: { results: [{ ...result, device: 'e' }] } } } }), invalid('status.allocation')],
    ['reservedFor without an allocation is rejected (422)', [aClaim], patch(`${claims}/c/status`, { status: { reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] } }), invalid('status.reservedFor')],
    ['ResourceSlices are selected by spec.driver', [post(`${resource}/resourceslices`, { metadata: { name: '{ns}' }, spec: slice })], get(`${resource}/resourceslices?fieldSelector=spec.driver={ns}.example.com`), names('{ns}')],
    ['fields of disabled feature gates are dropped', [], post(`${resource}/resourceslices`, { metadata: { name: '{ns}' }, spec: { ...slice, devices: [{ name: 'd', taints }] } }), created({ spec: { devices: [{ name: 'd' }] } }, { absent: ['spec.devices.0.taints'] })],
    ['a device attribute with two values is rejected (422)', [], post(`${resource}/resourceslices`, { metadata: { name: '{ns}' }, spec: { ...slice, devices: [{ name: 'd', attributes: { a: { int: 1, bool: true } } }] } }), invalid('spec.devices[0].attributes[a]')],
  ],
};

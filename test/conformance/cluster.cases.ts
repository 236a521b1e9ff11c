import { requestPem } from '../harness/certificate-texts.js';
import { del, get, invalid, keep, made, names, ok, patch, post, refused, type Step, type Table } from './case.js';

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
  name: 'certificate requests',
  rows: [
    ['a request says who asks', [], aRequest, made({ spec: { username: expect.not.stringMatching('somebody') as unknown, groups: expect.not.arrayContaining(['all']) as unknown }, status: {} })],
    ['a request does not change', [aRequest], patch(`${requests}/{ns}`, { spec: { signerName: 'example.com/other' }, status: { conditions: [condition('Approved')] } }), ok({ spec: { signerName: 'example.com/{ns}' }, status: {} })],
    ['a request is approved', [aRequest], decide('Approved'), ok({ status: { conditions: [condition('Approved')] } })],
    ['a request is owned by nobody', [aRequest], get(`${requests}/{ns}`), ok({}, { absent: ['metadata.managedFields'] })],
    ['a decision is one', [aRequest], decide('Approved', 'Denied'), invalid('status.conditions')],
    ['a decision stands', [aRequest, decide('Denied')], decide(), invalid('status.conditions')],
    ['a decision is not made by status', [aRequest], patch(`${requests}/{ns}/status`, { status: { conditions: [condition('Approved')] } }), invalid('status.conditions')],
    ['what is no certificate is not issued', [aRequest, decide('Approved')], patch(`${requests}/{ns}/status`, { status: { certificate: 'eA==' } }), invalid('status.certificate')],
    ['requests are found by their signer', [aRequest], get(`${requests}?fieldSelector=spec.signerName=example.com/{ns}`), names('{ns}')],
    ['a request for nothing', [], post(requests, { metadata: { name: '{ns}' }, spec: { signerName: 'example.com/s', usages: ['any'] } }), invalid('spec.request')],
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
  name: 'storage, priorities and runtimes',
  rows: [
    ['a class has a policy and a mode', [], aClass, made({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' })],
    ['a class keeps its parameters', [aClass], patch(`${storage}/storageclasses/{ns}`, { parameters: { a: 'b' } }), invalid('parameters')],
    ['a class that goes is shown', [aClass], del(`${storage}/storageclasses/{ns}`), ok({ kind: 'StorageClass', provisioner: 'example.com/p' })],
    ['a driver counts its changes', [aDriver], patch(`${storage}/csidrivers/{ns}`, { spec: { requiresRepublish: true } }), ok({ metadata: { generation: 1 } })],
    ['a new driver has counted none', [], aDriver, made({ spec: { attachRequired: true, volumeLifecycleModes: ['Persistent'] } }, { absent: ['metadata.generation'] })],
    ['nothing is attached at once', [], anAttachment, made({ status: { attached: false } })],
    ['what is attached is told by status alone', [anAttachment], patch(`${attachments}/{ns}/status`, { metadata: { labels: { a: 'b' } }, status: { attached: true } }), ok({ status: { attached: true } }, { absent: ['metadata.labels'] })],
    ['priorities do not change', [post(`${scheduling}/priorityclasses`, { metadata: { name: '{ns}' }, value: 5 })], patch(`${scheduling}/priorityclasses/{ns}`, { value: 6 }), invalid('value')],
    ['priorities of the system are not for users', [], post(`${scheduling}/priorityclasses`, { metadata: { name: 'system-{ns}' }, value: 5 }), invalid('metadata.name')],
    ['a runtime has a handler', [], post('/apis/{group:node}/v1/runtimeclasses', { metadata: { name: '{ns}' } }), invalid('handler')],
    ['a runtime is not overwritten blindly', [post('/apis/{group:node}/v1/runtimeclasses', { metadata: { name: '{ns}' }, handler: 'h' })], { method: 'PUT', path: '/apis/{group:node}/v1/runtimeclasses/{ns}', body: { metadata: { name: '{ns}' }, handler: 'h' } }, refused(422, 'Invalid')],
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
    ['a claim is for one device', [], aClaim, made({ spec: { devices: { requests: [{ name: 'r', exactly: { allocationMode: 'ExactCount', count: 1 } }] } }, status: {} })],
    ['a claim does not change', [aClaim], patch(`${claims}/c`, { spec: { devices: { requests: [] } } }), invalid('spec')],
    ['a claim is given devices', [aClaim], allocate, ok({ status: { allocation } })],
    ['a claim is given no others', [aClaim, allocate], patch(`${claims}/c/status`, { status: { allocation: { devices: { results: [{ ...result, device: 'e' }] } } } }), invalid('status.allocation')],
    ['a claim is not used before', [aClaim], patch(`${claims}/c/status`, { status: { reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] } }), invalid('status.reservedFor')],
    ['slices are found by their driver', [post(`${resource}/resourceslices`, { metadata: { name: '{ns}' }, spec: slice })], get(`${resource}/resourceslices?fieldSelector=spec.driver={ns}.example.com`), names('{ns}')],
    ['fields of features that are off are dropped', [], post(`${resource}/resourceslices`, { metadata: { name: '{ns}' }, spec: { ...slice, devices: [{ name: 'd', taints }] } }), made({ spec: { devices: [{ name: 'd' }] } }, { absent: ['spec.devices.0.taints'] })],
    ['a device says one thing by one name', [], post(`${resource}/resourceslices`, { metadata: { name: '{ns}' }, spec: { ...slice, devices: [{ name: 'd', attributes: { a: { int: 1, bool: true } } }] } }), invalid('spec.devices[0].attributes[a]')],
  ],
};

import {
  aConfigMap,
  aPod,
  configMap,
  del,
  get,
  invalid,
  keep,
  created,
  notFound,
  ok,
  patch,
  pod,
  post,
  put,
  refused,
  type Table,
} from './case.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const leases = '/apis/{group:coordination}/v1/namespaces/{ns}/leases';
const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'Pod', name: 'p', uid });
const ownerIn = (field: string, value: string) =>
  patch('~/configmaps/a', [{ op: 'add', path: `/metadata/managedFields/0/${field}`, value }], 'json');
const lease = (name: string, more: object = {}) => ({ metadata: { name, ...more }, spec: { holderIdentity: 'me' } });

// prettier-ignore
export const creating: Table = {
  name: 'create',
  everywhere: true,
  rows: [
    ['answers with the object (201)', [], post('~/configmaps', configMap('a', { data: { x: '1' } })), created({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: '{ns}' }, data: { x: '1' } })],
    ['sets uid, creationTimestamp and resourceVersion', [], post('~/configmaps', configMap('a')), created({ metadata: { uid: expect.stringMatching(uuid), creationTimestamp: expect.stringMatching(time), resourceVersion: expect.stringMatching(/^[1-9]\d*$/) } })],
    ['ignores system fields of clients', [], post('~/configmaps', configMap('a', { metadata: { uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', selfLink: '/x', deletionTimestamp: '2001-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 } })), created({ metadata: { uid: expect.stringMatching(uuid) } }, { absent: ['metadata.selfLink', 'metadata.deletionTimestamp', 'metadata.deletionGracePeriodSeconds'] })],
    ['a body without kind and apiVersion is accepted', [], post('~/configmaps', { metadata: { name: 'a' } }), created({ kind: 'ConfigMap', apiVersion: 'v1' })],
    ['keeps labels, annotations, finalizers and ownerReferences', [], post('~/configmaps', configMap('a', { metadata: { labels: { l: '1' }, annotations: { n: '2' }, finalizers: ['example.com/f'], ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }] } })), created({ metadata: { labels: { l: '1' }, annotations: { n: '2' }, finalizers: ['example.com/f'], ownerReferences: [{ name: 'p' }] } })],
    ['removes duplicate ownerReferences with a warning', [], post('~/configmaps', configMap('a', { metadata: { ownerReferences: [owner('u'), owner('v'), owner('u')] } })), created({ metadata: { ownerReferences: [owner('u'), owner('v')] } }, { warnings: [expect.stringMatching(/ownerReferences has the same entry more than once.* u$/)] })],
    ['two controllers are rejected (422)', [], post('~/configmaps', configMap('a', { metadata: { ownerReferences: [{ ...owner('u'), controller: true }, { ...owner('v'), controller: true }] } })), invalid('metadata.ownerReferences')],
    ['an ownerReference without uid is rejected (422)', [], post('~/configmaps', configMap('a', { metadata: { ownerReferences: [owner('')] } })), invalid('metadata.ownerReferences.uid')],
    ['invalid managedFields are replaced', [], post('~/configmaps', configMap('a', { data: { x: '1' }, metadata: { managedFields: [{ manager: 'm', operation: 'Guess', apiVersion: 'v1' }] } })), created({ metadata: { managedFields: [{ operation: 'Update' }] } }, { absent: ['metadata.managedFields.1'] })],
    ['twice', [aConfigMap('a')], post('~/configmaps', configMap('a')), refused(409, 'AlreadyExists', 'configmaps "a" already exists')],
    ['after a deletion creates an object with another uid', [aConfigMap('a'), del('~/configmaps/a')], post('~/configmaps', configMap('a')), created({ metadata: { name: 'a' } })],
    ['a resourceVersion is rejected (400)', [], post('~/configmaps', configMap('a', { metadata: { resourceVersion: '5' } })), refused(400, 'BadRequest', 'resourceVersion should not be set on objects to be created')],
    ['a missing name is rejected (422)', [], post('~/configmaps', { metadata: {} }), refused(422, 'Invalid', 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required')],
    ['generateName generates a name', [], post('~/configmaps', { metadata: { generateName: 'g-' } }), created({ metadata: { generateName: 'g-', name: expect.stringMatching(/^g-[bcdfghjklmnpqrstvwxz2456789]{5}$/) } })],
    ['a long generateName is truncated', [], post('~/configmaps', { metadata: { generateName: `${'g'.repeat(70)}-` } }), created({ metadata: { name: expect.stringMatching(/^g{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/) } })],
    ['a name takes precedence over generateName', [], post('~/configmaps', { metadata: { name: 'a', generateName: 'g-' } }), created({ metadata: { name: 'a' } })],
    ['an invalid name is rejected (422)', [], post('~/configmaps', configMap('A_')), invalid('metadata.name')],
    ['an invalid label is rejected (422)', [], post('~/configmaps', configMap('a', { metadata: { labels: { 'a b': 'c' } } })), invalid('metadata.labels')],
    ['an invalid annotation is rejected (422)', [], post('~/configmaps', configMap('a', { metadata: { annotations: { 'a b': 'c' } } })), invalid('metadata.annotations')],
    ['an invalid finalizer is rejected (422)', [], post('~/configmaps', configMap('a', { metadata: { finalizers: ['x'] } })), invalid('metadata.finalizers[0]')],
    ['all errors are reported together (422)', [], post('~/configmaps', configMap('A_', { metadata: { labels: { 'a b': 'c' } } })), { ...invalid('metadata.name'), ...{ message: /^ConfigMap "A_" is invalid: \[metadata\.name: .*, metadata\.labels: .*\]$/ } }],
    ['a namespace other than in the URL is rejected (400)', [], post('~/configmaps', configMap('a', { metadata: { namespace: 'other' } })), refused(400, 'BadRequest', 'the namespace of the provided object does not match the namespace sent on the request')],
    ['an absent namespace is not found (404)', [], post('/api/v1/namespaces/none/configmaps', configMap('a')), notFound('namespaces "none" not found')],
    ['an absent namespace is not found in a dry run (404)', [], post('/api/v1/namespaces/none/configmaps?dryRun=All', configMap('a')), notFound('namespaces "none" not found')],
    ['the namespace of a cluster-scoped object is ignored', [], post('/api/v1/nodes', { metadata: { name: '{ns}', namespace: 'x' } }), created({ metadata: { name: '{ns}' } }, { absent: ['metadata.namespace'] })],
    ['without a namespace is not allowed (405)', [], post('/api/v1/configmaps', configMap('a')), refused(405, 'MethodNotAllowed')],
    ['generation starts at 1', [], post('~/pods', pod('p')), created({ metadata: { generation: 1 } })],
    ['status is ignored', [], post('~/pods', { ...pod('p'), status: { phase: 'Running' } }), created({ status: { phase: 'Pending' } })],
    ['after a deletion is read back at once', [aConfigMap('a')], get('~/configmaps/a'), ok({ metadata: { uid: '{a.metadata.uid}', resourceVersion: '{a.metadata.resourceVersion}' } })],
  ],
};

// prettier-ignore
export const putting: Table = {
  name: 'update',
  everywhere: true,
  rows: [
    ['replaces the object', [aConfigMap('a', { data: { x: '1' } })], put('~/configmaps/a', configMap('a', { data: { y: '2' } })), ok({ data: { y: '2' }, metadata: { uid: '{a.metadata.uid}', creationTimestamp: '{a.metadata.creationTimestamp}' } }, { absent: ['data.x'] })],
    ['with the current resourceVersion', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { data: { y: '2' }, metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })), ok({ data: { y: '2' } })],
    ['with a stale resourceVersion is a conflict (409)', [aConfigMap('a'), put('~/configmaps/a', configMap('a', { data: { y: '1' } }))], put('~/configmaps/a', configMap('a', { metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })), refused(409, 'Conflict', 'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again')],
    ['with a future resourceVersion is a conflict (409)', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { metadata: { resourceVersion: '999999999' } })), refused(409, 'Conflict')],
    ['with another uid is a conflict (409)', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { metadata: { uid: '11111111-1111-1111-1111-111111111111' } })), refused(409, 'Conflict', /Precondition failed: UID in precondition: 11111111/)],
    ['without a change writes nothing', [aConfigMap('a', { data: { x: '1' } })], put('~/configmaps/a', configMap('a', { data: { x: '1' } })), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })],
    ['of an absent object is not found (404)', [], put('~/configmaps/none', configMap('none')), notFound('configmaps "none" not found')],
    ['of an absent object with a resourceVersion is not found (404)', [], put('~/configmaps/none', configMap('none', { metadata: { resourceVersion: '5' } })), notFound('configmaps "none" not found')],
    ['with another name is rejected (400)', [aConfigMap('a')], put('~/configmaps/a', configMap('b')), refused(400, 'BadRequest', 'the name of the object (b) does not match the name on the URL (a)')],
    ['without a name is rejected (400)', [aConfigMap('a')], put('~/configmaps/a', { data: {} }), refused(400, 'BadRequest', /^the name of the object \(a based on URL\) was undeterminable/)],
    ['with another namespace is rejected (400)', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { metadata: { namespace: 'other' } })), refused(400, 'BadRequest', 'the namespace of the provided object does not match the namespace sent on the request')],
    ['keeps system fields', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { metadata: { creationTimestamp: '2001-01-01T00:00:00Z', labels: { l: '1' } } })), ok({ metadata: { creationTimestamp: '{a.metadata.creationTimestamp}', uid: '{a.metadata.uid}' } })],
    ['of metadata keeps generation', [aPod('p')], put('~/pods/p', { ...pod('p'), metadata: { name: 'p', labels: { l: '1' } } }), ok({ metadata: { generation: 1, labels: { l: '1' } } })],
    ['of spec increments generation', [aPod('p')], put('~/pods/p', pod('p', { spec: { containers: [{ name: 'main', image: 'example.com/app:2' }] } })), ok({ metadata: { generation: 2 } })],
    ['of status is ignored', [aPod('p')], put('~/pods/p', { ...pod('p'), status: { phase: 'Running' } }), ok({ status: { phase: 'Pending' } })],
    ['of an immutable field is rejected (422)', [aPod('p')], put('~/pods/p', pod('p', { spec: { containers: [{ name: 'other', image: 'i' }] } })), refused(422, 'Invalid')],
    ['of an immutable ConfigMap is rejected (422)', [keep('a', post('~/configmaps', configMap('a', { immutable: true })))], put('~/configmaps/a', configMap('a', { immutable: true, data: { x: '1' } })), invalid('data')],
    ['creates an absent Lease (201)', [], put(`${leases}/l`, lease('l')), created({ metadata: { name: 'l', uid: expect.stringMatching(uuid) } })],
    ['of an absent Lease with a resourceVersion is not found (404)', [], put(`${leases}/l`, lease('l', { resourceVersion: '5' })), notFound()],
    ['of a Lease without resourceVersion is rejected (422)', [post(leases, lease('l'))], put(`${leases}/l`, lease('l')), refused(422, 'Invalid', /metadata\.resourceVersion: Invalid value: .*must be specified for an update/)],
    ['of a Lease with its resourceVersion', [keep('l', post(leases, lease('l')))], put(`${leases}/l`, { metadata: { name: 'l', resourceVersion: '{l.metadata.resourceVersion}' }, spec: { holderIdentity: 'you' } }), ok({ spec: { holderIdentity: 'you' } })],
    ['of a collection is not allowed (405)', [], put('~/configmaps', configMap('a')), refused(405, 'MethodNotAllowed')],
    ['with a matching If-Match', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { data: { x: '1' } }), { 'if-match': '"{a.metadata.resourceVersion}"' }), ok({ data: { x: '1' } })],
    ['with If-Match: *', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { data: { x: '1' } }), { 'if-match': '*' }), ok({ data: { x: '1' } })],
    ['with a stale If-Match is a conflict (409)', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { data: { x: '1' } }), { 'if-match': '1234567890123456789' }), { ...refused(409, 'Conflict', /the ResourceVersion in the precondition \(1234567890123456789\) does not match/), then: [[get('~/configmaps/a'), ok({}, { absent: ['data'] })]] }],
    ['with an invalid If-Match is rejected (400)', [aConfigMap('a')], put('~/configmaps/a', configMap('a'), { 'if-match': 'W/"x"' }), refused(400, 'BadRequest', 'an If-Match header takes one resourceVersion')],
    ['of an absent Lease with If-Match is not found (404)', [], put(`${leases}/l`, lease('l'), { 'if-match': '5' }), notFound()],
    ['a manager above 128 bytes in managedFields is rejected (422)', [aConfigMap('a', { data: { x: '1' } })], ownerIn('manager', 'm'.repeat(129)), { ...invalid('metadata.managedFields[0].manager'), message: /Too long: may not be more than 128 bytes$/ }],
    ['a manager with a control character in managedFields is rejected (422)', [aConfigMap('a', { data: { x: '1' } })], ownerIn('manager', 'm\u0001'), invalid('metadata.managedFields[0].manager')],
    ['a subresource above 256 bytes in managedFields is rejected (422)', [aConfigMap('a', { data: { x: '1' } })], ownerIn('subresource', 's'.repeat(257)), { ...invalid('metadata.managedFields[0].subresource'), message: /Too long: may not be more than 256 bytes$/ }],
    ['an unknown operation in managedFields keeps the old managedFields', [aConfigMap('a', { data: { x: '1' } })], ownerIn('operation', 'Guess'), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })],
    ['of the times in managedFields alone writes nothing', [aConfigMap('a', { data: { x: '1' } })], patch('~/configmaps/a', [{ op: 'replace', path: '/metadata/managedFields/0/time', value: '2001-01-01T00:00:00Z' }], 'json'), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}', managedFields: [{ time: expect.not.stringContaining('2001') }] } })],
  ],
};

// prettier-ignore
export const dryRuns: Table = {
  name: 'dry run',
  everywhere: true,
  rows: [
    ['create stores nothing', [], post('~/configmaps?dryRun=All', configMap('a')), created({ metadata: { name: 'a', uid: expect.stringMatching(uuid) } }, { absent: ['metadata.resourceVersion'], then: [[get('~/configmaps/a'), notFound()]] })],
    ['create of an existing object is rejected (409)', [aConfigMap('a')], post('~/configmaps?dryRun=All', configMap('a')), refused(409, 'AlreadyExists')],
    ['create is validated (422)', [], post('~/configmaps?dryRun=All', configMap('A_')), invalid('metadata.name')],
    ['update stores nothing', [aConfigMap('a')], put('~/configmaps/a?dryRun=All', configMap('a', { data: { x: '1' } })), ok({ data: { x: '1' } }, { then: [[get('~/configmaps/a'), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } }, { absent: ['data'] })]] })],
    ['delete deletes nothing', [aConfigMap('a')], del('~/configmaps/a?dryRun=All'), ok({ status: 'Success' }, { then: [[get('~/configmaps/a'), ok()]] })],
    ['delete with dryRun in the body deletes nothing', [aConfigMap('a')], del('~/configmaps/a', { dryRun: ['All'] }), ok({ status: 'Success' }, { then: [[get('~/configmaps/a'), ok()]] })],
    ['deletecollection deletes nothing', [aConfigMap('a')], del('~/configmaps?dryRun=All&fieldSelector=metadata.name=a'), ok({ items: [{ metadata: { name: 'a' } }] }, { then: [[get('~/configmaps/a'), ok()]] })],
    ['dryRun=All twice stores nothing', [], post('~/configmaps?dryRun=All&dryRun=All', configMap('a')), created({}, { then: [[get('~/configmaps/a'), notFound()]] })],
    ['dryRun without a value stores', [], post('~/configmaps?dryRun', configMap('a')), created({}, { then: [[get('~/configmaps/a'), ok()]] })],
    ['patch stores nothing', [aConfigMap('a')], patch('~/configmaps/a?dryRun=All', { data: { x: '1' } }), ok({ data: { x: '1' } }, { then: [[get('~/configmaps/a'), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } }, { absent: ['data'] })]] })],
    ['eviction deletes nothing', [aPod('p')], post('~/pods/p/eviction?dryRun=All', { metadata: { name: 'p' } }), created({ status: 'Success' }, { then: [[get('~/pods/p'), ok({ metadata: { resourceVersion: '{p.metadata.resourceVersion}' } }, { absent: ['metadata.deletionTimestamp'] })]] })],
    ['removal of the last finalizer deletes nothing', [aConfigMap('a', { metadata: { finalizers: ['example.com/f'] } }), del('~/configmaps/a')], patch('~/configmaps/a?dryRun=All', { metadata: { finalizers: null } }), ok({}, { then: [[get('~/configmaps/a'), ok({ metadata: { finalizers: ['example.com/f'] } })]] })],
    ['an unknown dryRun value is rejected (422)', [], post('~/configmaps?dryRun=true', configMap('a')), refused(422, 'Invalid', 'CreateOptions.{group:meta} "" is invalid: dryRun: Unsupported value: ["true"]: supported values: "All"')],
    ['an empty dryRun value is rejected (422)', [], post('~/configmaps?dryRun=', configMap('a')), refused(422, 'Invalid')],
  ],
};

import {
  aConfigMap,
  aPod,
  configMap,
  del,
  get,
  invalid,
  keep,
  made,
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
    ['answers with the object', [], post('~/configmaps', configMap('a', { data: { x: '1' } })), made({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: '{ns}' }, data: { x: '1' } })],
    ['makes the fields of the system', [], post('~/configmaps', configMap('a')), made({ metadata: { uid: expect.stringMatching(uuid), creationTimestamp: expect.stringMatching(time), resourceVersion: expect.stringMatching(/^[1-9]\d*$/) } })],
    ['takes no such fields from clients', [], post('~/configmaps', configMap('a', { metadata: { uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', selfLink: '/x', deletionTimestamp: '2001-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 } })), made({ metadata: { uid: expect.stringMatching(uuid) } }, { absent: ['metadata.selfLink', 'metadata.deletionTimestamp', 'metadata.deletionGracePeriodSeconds'] })],
    ['knows its kind without being told', [], post('~/configmaps', { metadata: { name: 'a' } }), made({ kind: 'ConfigMap', apiVersion: 'v1' })],
    ['keeps labels, annotations, finalizers and owners', [], post('~/configmaps', configMap('a', { metadata: { labels: { l: '1' }, annotations: { n: '2' }, finalizers: ['example.com/f'], ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }] } })), made({ metadata: { labels: { l: '1' }, annotations: { n: '2' }, finalizers: ['example.com/f'], ownerReferences: [{ name: 'p' }] } })],
    ['keeps an owner that is named twice once', [], post('~/configmaps', configMap('a', { metadata: { ownerReferences: [owner('u'), owner('v'), owner('u')] } })), made({ metadata: { ownerReferences: [owner('u'), owner('v')] } }, { warnings: [expect.stringMatching(/ownerReferences has the same entry more than once.* u$/)] })],
    ['with two controllers', [], post('~/configmaps', configMap('a', { metadata: { ownerReferences: [{ ...owner('u'), controller: true }, { ...owner('v'), controller: true }] } })), invalid('metadata.ownerReferences')],
    ['with an owner without a uid', [], post('~/configmaps', configMap('a', { metadata: { ownerReferences: [owner('')] } })), invalid('metadata.ownerReferences.uid')],
    ['with a record of owners that is none', [], post('~/configmaps', configMap('a', { data: { x: '1' }, metadata: { managedFields: [{ manager: 'm', operation: 'Guess', apiVersion: 'v1' }] } })), made({ metadata: { managedFields: [{ operation: 'Update' }] } }, { absent: ['metadata.managedFields.1'] })],
    ['twice', [aConfigMap('a')], post('~/configmaps', configMap('a')), refused(409, 'AlreadyExists', 'configmaps "a" already exists')],
    ['again after a deletion is another object', [aConfigMap('a'), del('~/configmaps/a')], post('~/configmaps', configMap('a')), made({ metadata: { name: 'a' } })],
    ['with a resourceVersion', [], post('~/configmaps', configMap('a', { metadata: { resourceVersion: '5' } })), refused(400, 'BadRequest', 'resourceVersion should not be set on objects to be created')],
    ['without a name', [], post('~/configmaps', { metadata: {} }), refused(422, 'Invalid', 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required')],
    ['generates a name', [], post('~/configmaps', { metadata: { generateName: 'g-' } }), made({ metadata: { generateName: 'g-', name: expect.stringMatching(/^g-[bcdfghjklmnpqrstvwxz2456789]{5}$/) } })],
    ['shortens the base of a long generated name', [], post('~/configmaps', { metadata: { generateName: `${'g'.repeat(70)}-` } }), made({ metadata: { name: expect.stringMatching(/^g{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/) } })],
    ['a name goes before generateName', [], post('~/configmaps', { metadata: { name: 'a', generateName: 'g-' } }), made({ metadata: { name: 'a' } })],
    ['a bad name', [], post('~/configmaps', configMap('A_')), invalid('metadata.name')],
    ['a bad label', [], post('~/configmaps', configMap('a', { metadata: { labels: { 'a b': 'c' } } })), invalid('metadata.labels')],
    ['a bad annotation', [], post('~/configmaps', configMap('a', { metadata: { annotations: { 'a b': 'c' } } })), invalid('metadata.annotations')],
    ['a bad finalizer', [], post('~/configmaps', configMap('a', { metadata: { finalizers: ['x'] } })), invalid('metadata.finalizers[0]')],
    ['all mistakes at once', [], post('~/configmaps', configMap('A_', { metadata: { labels: { 'a b': 'c' } } })), { ...invalid('metadata.name'), ...{ message: /^ConfigMap "A_" is invalid: \[metadata\.name: .*, metadata\.labels: .*\]$/ } }],
    ['another namespace than the URL', [], post('~/configmaps', configMap('a', { metadata: { namespace: 'other' } })), refused(400, 'BadRequest', 'the namespace of the provided object does not match the namespace sent on the request')],
    ['a namespace that is not there', [], post('/api/v1/namespaces/none/configmaps', configMap('a')), notFound('namespaces "none" not found')],
    ['a namespace that is not there, as a dry run', [], post('/api/v1/namespaces/none/configmaps?dryRun=All', configMap('a')), notFound('namespaces "none" not found')],
    ['a namespace on a kind without', [], post('/api/v1/nodes', { metadata: { name: '{ns}', namespace: 'x' } }), made({ metadata: { name: '{ns}' } }, { absent: ['metadata.namespace'] })],
    ['no namespace at all', [], post('/api/v1/configmaps', configMap('a')), refused(405, 'MethodNotAllowed')],
    ['generation begins at 1', [], post('~/pods', pod('p')), made({ metadata: { generation: 1 } })],
    ['status is not taken', [], post('~/pods', { ...pod('p'), status: { phase: 'Running' } }), made({ status: { phase: 'Pending' } })],
    ['of another version of the name is read back at once', [aConfigMap('a')], get('~/configmaps/a'), ok({ metadata: { uid: '{a.metadata.uid}', resourceVersion: '{a.metadata.resourceVersion}' } })],
  ],
};

// prettier-ignore
export const putting: Table = {
  name: 'update',
  everywhere: true,
  rows: [
    ['replaces the object', [aConfigMap('a', { data: { x: '1' } })], put('~/configmaps/a', configMap('a', { data: { y: '2' } })), ok({ data: { y: '2' }, metadata: { uid: '{a.metadata.uid}', creationTimestamp: '{a.metadata.creationTimestamp}' } }, { absent: ['data.x'] })],
    ['with the right resourceVersion', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { data: { y: '2' }, metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })), ok({ data: { y: '2' } })],
    ['with a stale resourceVersion', [aConfigMap('a'), put('~/configmaps/a', configMap('a', { data: { y: '1' } }))], put('~/configmaps/a', configMap('a', { metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })), refused(409, 'Conflict', 'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again')],
    ['with a resourceVersion of the future', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { metadata: { resourceVersion: '999999999' } })), refused(409, 'Conflict')],
    ['with another uid', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { metadata: { uid: '11111111-1111-1111-1111-111111111111' } })), refused(409, 'Conflict', /Precondition failed: UID in precondition: 11111111/)],
    ['that changes nothing writes nothing', [aConfigMap('a', { data: { x: '1' } })], put('~/configmaps/a', configMap('a', { data: { x: '1' } })), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })],
    ['of what is not there', [], put('~/configmaps/none', configMap('none')), notFound('configmaps "none" not found')],
    ['of what is not there, with a resourceVersion', [], put('~/configmaps/none', configMap('none', { metadata: { resourceVersion: '5' } })), notFound('configmaps "none" not found')],
    ['with another name', [aConfigMap('a')], put('~/configmaps/a', configMap('b')), refused(400, 'BadRequest', 'the name of the object (b) does not match the name on the URL (a)')],
    ['without a name', [aConfigMap('a')], put('~/configmaps/a', { data: {} }), refused(400, 'BadRequest', /^the name of the object \(a based on URL\) was undeterminable/)],
    ['with another namespace', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { metadata: { namespace: 'other' } })), refused(400, 'BadRequest', 'the namespace of the provided object does not match the namespace sent on the request')],
    ['cannot unset what the system sets', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { metadata: { creationTimestamp: '2001-01-01T00:00:00Z', labels: { l: '1' } } })), ok({ metadata: { creationTimestamp: '{a.metadata.creationTimestamp}', uid: '{a.metadata.uid}' } })],
    ['of metadata alone leaves the generation', [aPod('p')], put('~/pods/p', { ...pod('p'), metadata: { name: 'p', labels: { l: '1' } } }), ok({ metadata: { generation: 1, labels: { l: '1' } } })],
    ['of the spec counts the generation', [aPod('p')], put('~/pods/p', pod('p', { spec: { containers: [{ name: 'main', image: 'example.com/app:2' }] } })), ok({ metadata: { generation: 2 } })],
    ['leaves the status alone', [aPod('p')], put('~/pods/p', { ...pod('p'), status: { phase: 'Running' } }), ok({ status: { phase: 'Pending' } })],
    ['of what may not change', [aPod('p')], put('~/pods/p', pod('p', { spec: { containers: [{ name: 'other', image: 'i' }] } })), refused(422, 'Invalid')],
    ['of an immutable object', [keep('a', post('~/configmaps', configMap('a', { immutable: true })))], put('~/configmaps/a', configMap('a', { immutable: true, data: { x: '1' } })), invalid('data')],
    ['makes a lease that is not there', [], put(`${leases}/l`, lease('l')), made({ metadata: { name: 'l', uid: expect.stringMatching(uuid) } })],
    ['makes no lease with a resourceVersion', [], put(`${leases}/l`, lease('l', { resourceVersion: '5' })), notFound()],
    ['of a lease needs its resourceVersion', [post(leases, lease('l'))], put(`${leases}/l`, lease('l')), refused(422, 'Invalid', /metadata\.resourceVersion: Invalid value: .*must be specified for an update/)],
    ['of a lease with its resourceVersion', [keep('l', post(leases, lease('l')))], put(`${leases}/l`, { metadata: { name: 'l', resourceVersion: '{l.metadata.resourceVersion}' }, spec: { holderIdentity: 'you' } }), ok({ spec: { holderIdentity: 'you' } })],
    ['of a collection', [], put('~/configmaps', configMap('a')), refused(405, 'MethodNotAllowed')],
    ['if it is of the version in a header', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { data: { x: '1' } }), { 'if-match': '"{a.metadata.resourceVersion}"' }), ok({ data: { x: '1' } })],
    ['if it is of any version', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { data: { x: '1' } }), { 'if-match': '*' }), ok({ data: { x: '1' } })],
    ['if it is of a version that it has not', [aConfigMap('a')], put('~/configmaps/a', configMap('a', { data: { x: '1' } }), { 'if-match': '1234567890123456789' }), { ...refused(409, 'Conflict', /the ResourceVersion in the precondition \(1234567890123456789\) does not match/), then: [[get('~/configmaps/a'), ok({}, { absent: ['data'] })]] }],
    ['if it is of what is no version', [aConfigMap('a')], put('~/configmaps/a', configMap('a'), { 'if-match': 'W/"x"' }), refused(400, 'BadRequest', 'an If-Match header takes one resourceVersion')],
    ['that makes a lease, if there is one', [], put(`${leases}/l`, lease('l'), { 'if-match': '5' }), notFound()],
    ['of an owner with a long name', [aConfigMap('a', { data: { x: '1' } })], ownerIn('manager', 'm'.repeat(129)), { ...invalid('metadata.managedFields[0].manager'), message: /Too long: may not be more than 128 bytes$/ }],
    ['of an owner with a name that cannot be printed', [aConfigMap('a', { data: { x: '1' } })], ownerIn('manager', 'm\u0001'), invalid('metadata.managedFields[0].manager')],
    ['of an owner with a long subresource', [aConfigMap('a', { data: { x: '1' } })], ownerIn('subresource', 's'.repeat(257)), { ...invalid('metadata.managedFields[0].subresource'), message: /Too long: may not be more than 256 bytes$/ }],
    ['of an owner that does nothing keeps the record', [aConfigMap('a', { data: { x: '1' } })], ownerIn('operation', 'Guess'), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })],
    ['of nothing but times of owners writes nothing', [aConfigMap('a', { data: { x: '1' } })], patch('~/configmaps/a', [{ op: 'replace', path: '/metadata/managedFields/0/time', value: '2001-01-01T00:00:00Z' }], 'json'), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}', managedFields: [{ time: expect.not.stringContaining('2001') }] } })],
  ],
};

// prettier-ignore
export const dryRuns: Table = {
  name: 'dry run',
  everywhere: true,
  rows: [
    ['create stores nothing', [], post('~/configmaps?dryRun=All', configMap('a')), made({ metadata: { name: 'a', uid: expect.stringMatching(uuid) } }, { absent: ['metadata.resourceVersion'], then: [[get('~/configmaps/a'), notFound()]] })],
    ['create of what is there', [aConfigMap('a')], post('~/configmaps?dryRun=All', configMap('a')), refused(409, 'AlreadyExists')],
    ['create checks', [], post('~/configmaps?dryRun=All', configMap('A_')), invalid('metadata.name')],
    ['update stores nothing', [aConfigMap('a')], put('~/configmaps/a?dryRun=All', configMap('a', { data: { x: '1' } })), ok({ data: { x: '1' } }, { then: [[get('~/configmaps/a'), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } }, { absent: ['data'] })]] })],
    ['delete deletes nothing', [aConfigMap('a')], del('~/configmaps/a?dryRun=All'), ok({ status: 'Success' }, { then: [[get('~/configmaps/a'), ok()]] })],
    ['delete by its body deletes nothing', [aConfigMap('a')], del('~/configmaps/a', { dryRun: ['All'] }), ok({ status: 'Success' }, { then: [[get('~/configmaps/a'), ok()]] })],
    ['deletecollection deletes nothing', [aConfigMap('a')], del('~/configmaps?dryRun=All&fieldSelector=metadata.name=a'), ok({ items: [{ metadata: { name: 'a' } }] }, { then: [[get('~/configmaps/a'), ok()]] })],
    ['said twice', [], post('~/configmaps?dryRun=All&dryRun=All', configMap('a')), made({}, { then: [[get('~/configmaps/a'), notFound()]] })],
    ['without a value stores', [], post('~/configmaps?dryRun', configMap('a')), made({}, { then: [[get('~/configmaps/a'), ok()]] })],
    ['patch stores nothing', [aConfigMap('a')], patch('~/configmaps/a?dryRun=All', { data: { x: '1' } }), ok({ data: { x: '1' } }, { then: [[get('~/configmaps/a'), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } }, { absent: ['data'] })]] })],
    ['eviction evicts nothing', [aPod('p')], post('~/pods/p/eviction?dryRun=All', { metadata: { name: 'p' } }), made({ status: 'Success' }, { then: [[get('~/pods/p'), ok({ metadata: { resourceVersion: '{p.metadata.resourceVersion}' } }, { absent: ['metadata.deletionTimestamp'] })]] })],
    ['the end of a deletion ends nothing', [aConfigMap('a', { metadata: { finalizers: ['example.com/f'] } }), del('~/configmaps/a')], patch('~/configmaps/a?dryRun=All', { metadata: { finalizers: null } }), ok({}, { then: [[get('~/configmaps/a'), ok({ metadata: { finalizers: ['example.com/f'] } })]] })],
    ['of another stage', [], post('~/configmaps?dryRun=true', configMap('a')), refused(422, 'Invalid', 'CreateOptions.{group:meta} "" is invalid: dryRun: Unsupported value: ["true"]: supported values: "All"')],
    ['of an empty stage', [], post('~/configmaps?dryRun=', configMap('a')), refused(422, 'Invalid')],
  ],
};

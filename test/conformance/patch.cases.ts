import { aConfigMap, aPod, get, invalid, notFound, ok, patch, refused, type Table } from './case.js';

const a = aConfigMap('a', { data: { x: '1', y: '2' }, metadata: { labels: { l: '1' } } });
const none = '';

// prettier-ignore
export const merging: Table = {
  name: 'merge patch',
  everywhere: true,
  rows: [
    ['adds, changes and removes fields', [a], patch('~/configmaps/a', { data: { x: 'new', y: null, z: '3' } }), ok({ data: { x: 'new', z: '3' } }, { absent: ['data.y'] })],
    ['a changed metadata.uid is rejected (422)', [a], patch('~/configmaps/a', { metadata: { uid: 'other' } }), refused(422, 'Invalid', /metadata\.uid: Invalid value: "other": field is immutable$/)],
    ['keeps fields that it does not name', [a], patch('~/configmaps/a', { data: { x: 'new' } }), ok({ data: { y: '2' }, metadata: { labels: { l: '1' }, uid: '{a.metadata.uid}' } })],
    ['replaces lists', [aConfigMap('a', { metadata: { finalizers: ['example.com/a', 'example.com/b'] } })], patch('~/configmaps/a', { metadata: { finalizers: ['example.com/b'] } }), ok({ metadata: { finalizers: ['example.com/b'] } })],
    ['an empty patch writes nothing', [a], patch('~/configmaps/a', {}), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })],
    ['removal of an absent field writes nothing', [a], patch('~/configmaps/a', { data: { none: null } }), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })],
    ['with the current resourceVersion', [a], patch('~/configmaps/a', { metadata: { resourceVersion: '{a.metadata.resourceVersion}' }, data: { x: 'new' } }), ok({ data: { x: 'new' } })],
    ['with a stale resourceVersion is a conflict (409)', [a, patch('~/configmaps/a', { data: { x: '9' } })], patch('~/configmaps/a', { metadata: { resourceVersion: '{a.metadata.resourceVersion}' } }), refused(409, 'Conflict', /the object has been modified/)],
    ['changes of system fields are ignored', [a], patch('~/configmaps/a', { metadata: { creationTimestamp: null, labels: { l: '2' } } }), ok({ metadata: { creationTimestamp: '{a.metadata.creationTimestamp}' } })],
    ['a changed name is rejected (400)', [a], patch('~/configmaps/a', { metadata: { name: 'b' } }), refused(400, 'BadRequest', 'the name of the object (b) does not match the name on the URL (a)')],
    ['a changed namespace is rejected (400)', [a], patch('~/configmaps/a', { metadata: { namespace: 'other' } }), refused(400, 'BadRequest', /the namespace of the provided object/)],
    ['removal of metadata is rejected (400)', [a], patch('~/configmaps/a', { metadata: null }), refused(400, 'BadRequest', /was undeterminable/)],
    ['an invalid result is rejected (422)', [a], patch('~/configmaps/a', { metadata: { labels: { 'a b': 'c' } } }), invalid('metadata.labels')],
    ['data as a string is rejected (422)', [a], patch('~/configmaps/a', { data: 'x' }), refused(422, 'Invalid', /^ "" is invalid: patch: Invalid value: /)],
    ['an error quotes the patched object, with patched fields sorted (422)', [a], patch('~/configmaps/a', { data: { x: 1 } }), refused(422, 'Invalid', /^ "" is invalid: patch: Invalid value: "\{\\"apiVersion\\":\\"v1\\",\\"data\\":\{\\"x\\":1,.*\\"metadata\\":\{\\"name\\":.*": json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/s)],
    ['of an absent object is not found (404)', [], patch('~/configmaps/none', {}), notFound('configmaps "none" not found')],
    ['a list as a patch is rejected (400)', [a], patch('~/configmaps/a', []), refused(400, 'BadRequest', /^error decoding patch/)],
    ['null as a patch is rejected (400)', [a], patch('~/configmaps/a', 'null'), refused(400, 'BadRequest', 'Invalid JSON Patch')],
    ['an empty body is rejected (400)', [a], patch('~/configmaps/a', none), refused(400, 'BadRequest', /^error decoding patch: unexpected end of JSON input/)],
    ['a truncated body is rejected (400)', [a], patch('~/configmaps/a', '{'), refused(400, 'BadRequest', /^error decoding patch: unexpected end of JSON input/)],
    ['a change of spec increments generation', [aPod('p')], patch('~/pods/p', { spec: { activeDeadlineSeconds: 60 } }), ok({ metadata: { generation: 2 } })],
    ['a change of status is ignored', [aPod('p')], patch('~/pods/p', { status: { phase: 'Running' } }), ok({ status: { phase: 'Pending' }, metadata: { resourceVersion: '{p.metadata.resourceVersion}' } })],
    ['as a dry run stores nothing', [a], patch('~/configmaps/a?dryRun=All', { data: { x: 'new' } }), ok({ data: { x: 'new' } }, { then: [[get('~/configmaps/a'), ok({ data: { x: '1' } })]] })],
    ['with a matching If-Match', [a], { ...patch('~/configmaps/a', { data: { x: 'new' } }), headers: { 'content-type': 'application/merge-patch+json', 'if-match': '{a.metadata.resourceVersion}' } }, ok({ data: { x: 'new' } })],
    ['with a stale If-Match is a conflict (409)', [a], { ...patch('~/configmaps/a', { data: { x: 'new' } }), headers: { 'content-type': 'application/merge-patch+json', 'if-match': '"5"' } }, { ...refused(409, 'Conflict', /the ResourceVersion in the precondition \(5\) does not match/), then: [[get('~/configmaps/a'), ok({ data: { x: '1' } })]] }],
    ['force=true without apply is rejected (422)', [a], patch('~/configmaps/a?force=true', {}), refused(422, 'Invalid', 'PatchOptions.{group:meta} "" is invalid: force: Forbidden: may not be specified for non-apply patch')],
    ['the key __proto__ is rejected (400)', [a], patch('~/configmaps/a', '{"data":{"__proto__":"1"}}'), refused(400, 'BadRequest', /the key "__proto__" is not allowed/)],
  ],
};

const json = (operations: unknown) => patch('~/configmaps/a', operations, 'json');
const rejected = refused(422, 'Invalid', /^the server rejected our request due to an error in our request/);

// prettier-ignore
export const jsonPatching: Table = {
  name: 'JSON patch',
  everywhere: true,
  rows: [
    ['add', [a], json([{ op: 'add', path: '/data/z', value: '3' }]), ok({ data: { x: '1', z: '3' } })],
    ['remove', [a], json([{ op: 'remove', path: '/data/x' }]), ok({ data: { y: '2' } }, { absent: ['data.x'] })],
    ['replace', [a], json([{ op: 'replace', path: '/data/x', value: '3' }]), ok({ data: { x: '3' } })],
    ['move', [a], json([{ op: 'move', from: '/data/x', path: '/data/z' }]), ok({ data: { z: '1' } }, { absent: ['data.x'] })],
    ['copy', [a], json([{ op: 'copy', from: '/data/x', path: '/data/z' }]), ok({ data: { x: '1', z: '1' } })],
    ['a test that passes', [a], json([{ op: 'test', path: '/data/x', value: '1' }, { op: 'remove', path: '/data/x' }]), ok({}, { absent: ['data.x'] })],
    ['a test that fails changes nothing (422)', [a], json([{ op: 'remove', path: '/data/y' }, { op: 'test', path: '/data/x', value: '2' }]), { ...rejected, then: [[get('~/configmaps/a'), ok({ data: { y: '2' } })]] }],
    ['a test of the resourceVersion', [a], json([{ op: 'test', path: '/metadata/resourceVersion', value: '{a.metadata.resourceVersion}' }]), ok()],
    ['escaped keys', [a], json([{ op: 'add', path: '/metadata/annotations', value: {} }, { op: 'add', path: '/metadata/annotations/example.com~1x', value: '1' }]), ok({ metadata: { annotations: { 'example.com/x': '1' } } })],
    ['an empty list of operations writes nothing', [a], json([]), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })],
    ['removal of an absent field is rejected (422)', [a], json([{ op: 'remove', path: '/data/none' }]), rejected],
    ['add below an absent field is rejected (422)', [a], json([{ op: 'add', path: '/none/x', value: '1' }]), rejected],
    ['an unknown operation is rejected (422)', [a], json([{ op: 'x', path: '/data/x', value: '1' }]), rejected],
    ['an operation without op is rejected (422)', [a], json([{ path: '/data/x' }]), rejected],
    ['a path without a slash is rejected (422)', [a], json([{ op: 'add', path: 'data', value: '1' }]), rejected],
    ['data as a string is rejected (422)', [a], json([{ op: 'add', path: '/data', value: 'x' }]), refused(422, 'Invalid', /^ "" is invalid: patch: Invalid value: /)],
    ['replacing the whole object by {} is rejected (400)', [a], json([{ op: 'replace', path: '', value: {} }]), refused(400, 'BadRequest', /was undeterminable/)],
    ['an object as a patch is rejected (400)', [a], json({}), refused(400, 'BadRequest', /^error decoding patch: /)],
    ['a truncated body is rejected (400)', [a], json('{'), refused(400, 'BadRequest', /^error decoding patch: unexpected end of JSON input/)],
    ['more than 10,000 operations are rejected (413)', [a], json(Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/x', value: '1' }))), refused(413, 'RequestEntityTooLarge', 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001')],
    ['of an absent object is not found (404)', [], patch('~/configmaps/none', [], 'json'), notFound('configmaps "none" not found')],
    ['a path through __proto__ is rejected (422)', [a], json([{ op: 'add', path: '/__proto__/polluted', value: '1' }]), rejected],
  ],
};

// prettier-ignore
export const patchTypes: Table = {
  name: 'patch types',
  rows: [
    ['text', [a], patch('~/configmaps/a', '{}', 'text/plain'), refused(415, 'UnsupportedMediaType')],
    ['application/json is rejected (415)', [a], patch('~/configmaps/a', {}, 'application/json'), refused(415, 'UnsupportedMediaType')],
    ['none', [a], { ...patch('~/configmaps/a', '{}'), headers: { 'content-type': '' } }, refused(415, 'UnsupportedMediaType')],
    ['application/apply-patch+cbor with its feature gate off is rejected (415)', [a], patch('~/configmaps/a', 'x', 'application/apply-patch+cbor'), refused(415, 'UnsupportedMediaType')],
    ['a Content-Type with a charset is accepted', [a], patch('~/configmaps/a', '{"data":{"z":"3"}}', 'application/merge-patch+json; charset=utf-8'), ok({ data: { z: '3' } })],
    ['an unknown fieldValidation is rejected (422)', [a], patch('~/configmaps/a?fieldValidation=X', {}), refused(422, 'Invalid', /fieldValidation: Unsupported value: "X"/)],
    ['a patch of a collection is not allowed (405)', [a], patch('~/configmaps', {}), refused(405, 'MethodNotAllowed')],
  ],
};

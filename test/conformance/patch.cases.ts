import { aConfigMap, aPod, get, invalid, notFound, ok, patch, refused, type Table } from './case.js';

const a = aConfigMap('a', { data: { x: '1', y: '2' }, metadata: { labels: { l: '1' } } });
const none = '';

// prettier-ignore
export const merging: Table = {
  name: 'merge patch',
  everywhere: true,
  rows: [
    ['adds, changes and removes', [a], patch('~/configmaps/a', { data: { x: 'new', y: null, z: '3' } }), ok({ data: { x: 'new', z: '3' } }, { absent: ['data.y'] })],
    ['cannot make it another one', [a], patch('~/configmaps/a', { metadata: { uid: 'other' } }), refused(422, 'Invalid', /metadata\.uid: Invalid value: "other": field is immutable$/)],
    ['keeps what it does not name', [a], patch('~/configmaps/a', { data: { x: 'new' } }), ok({ data: { y: '2' }, metadata: { labels: { l: '1' }, uid: '{a.metadata.uid}' } })],
    ['replaces lists whole', [aConfigMap('a', { metadata: { finalizers: ['example.com/a', 'example.com/b'] } })], patch('~/configmaps/a', { metadata: { finalizers: ['example.com/b'] } }), ok({ metadata: { finalizers: ['example.com/b'] } })],
    ['of nothing writes nothing', [a], patch('~/configmaps/a', {}), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })],
    ['removes what is not there', [a], patch('~/configmaps/a', { data: { none: null } }), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })],
    ['with the right resourceVersion', [a], patch('~/configmaps/a', { metadata: { resourceVersion: '{a.metadata.resourceVersion}' }, data: { x: 'new' } }), ok({ data: { x: 'new' } })],
    ['with a stale resourceVersion', [a, patch('~/configmaps/a', { data: { x: '9' } })], patch('~/configmaps/a', { metadata: { resourceVersion: '{a.metadata.resourceVersion}' } }), refused(409, 'Conflict', /the object has been modified/)],
    ['of the system fields', [a], patch('~/configmaps/a', { metadata: { creationTimestamp: null, labels: { l: '2' } } }), ok({ metadata: { creationTimestamp: '{a.metadata.creationTimestamp}' } })],
    ['of the name', [a], patch('~/configmaps/a', { metadata: { name: 'b' } }), refused(400, 'BadRequest', 'the name of the object (b) does not match the name on the URL (a)')],
    ['of the namespace', [a], patch('~/configmaps/a', { metadata: { namespace: 'other' } }), refused(400, 'BadRequest', /the namespace of the provided object/)],
    ['without metadata', [a], patch('~/configmaps/a', { metadata: null }), refused(400, 'BadRequest', /was undeterminable/)],
    ['that makes a bad object', [a], patch('~/configmaps/a', { metadata: { labels: { 'a b': 'c' } } }), invalid('metadata.labels')],
    ['that makes data a text', [a], patch('~/configmaps/a', { data: 'x' }), refused(422, 'Invalid', /^ "" is invalid: patch: Invalid value: /)],
    ['that does not fit quotes what it made, sorted where it went in', [a], patch('~/configmaps/a', { data: { x: 1 } }), refused(422, 'Invalid', /^ "" is invalid: patch: Invalid value: "\{\\"apiVersion\\":\\"v1\\",\\"data\\":\{\\"x\\":1,.*\\"metadata\\":\{\\"name\\":.*": json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/s)],
    ['of what is not there', [], patch('~/configmaps/none', {}), notFound('configmaps "none" not found')],
    ['that is a list', [a], patch('~/configmaps/a', []), refused(400, 'BadRequest', /^error decoding patch/)],
    ['that is null', [a], patch('~/configmaps/a', 'null'), refused(400, 'BadRequest', 'Invalid JSON Patch')],
    ['that is empty', [a], patch('~/configmaps/a', none), refused(400, 'BadRequest', /^error decoding patch: unexpected end of JSON input/)],
    ['that is cut short', [a], patch('~/configmaps/a', '{'), refused(400, 'BadRequest', /^error decoding patch: unexpected end of JSON input/)],
    ['counts the generation', [aPod('p')], patch('~/pods/p', { spec: { activeDeadlineSeconds: 60 } }), ok({ metadata: { generation: 2 } })],
    ['leaves the status alone', [aPod('p')], patch('~/pods/p', { status: { phase: 'Running' } }), ok({ status: { phase: 'Pending' }, metadata: { resourceVersion: '{p.metadata.resourceVersion}' } })],
    ['as a dry run', [a], patch('~/configmaps/a?dryRun=All', { data: { x: 'new' } }), ok({ data: { x: 'new' } }, { then: [[get('~/configmaps/a'), ok({ data: { x: '1' } })]] })],
    ['if it is of the version in a header', [a], { ...patch('~/configmaps/a', { data: { x: 'new' } }), headers: { 'content-type': 'application/merge-patch+json', 'if-match': '{a.metadata.resourceVersion}' } }, ok({ data: { x: 'new' } })],
    ['if it is of a version that it has not', [a], { ...patch('~/configmaps/a', { data: { x: 'new' } }), headers: { 'content-type': 'application/merge-patch+json', 'if-match': '"5"' } }, { ...refused(409, 'Conflict', /the ResourceVersion in the precondition \(5\) does not match/), then: [[get('~/configmaps/a'), ok({ data: { x: '1' } })]] }],
    ['with force', [a], patch('~/configmaps/a?force=true', {}), refused(422, 'Invalid', 'PatchOptions.{group:meta} "" is invalid: force: Forbidden: may not be specified for non-apply patch')],
    ['of a key that could be a prototype', [a], patch('~/configmaps/a', '{"data":{"__proto__":"1"}}'), refused(400, 'BadRequest', /the key "__proto__" is not allowed/)],
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
    ['test that holds', [a], json([{ op: 'test', path: '/data/x', value: '1' }, { op: 'remove', path: '/data/x' }]), ok({}, { absent: ['data.x'] })],
    ['test that does not hold', [a], json([{ op: 'remove', path: '/data/y' }, { op: 'test', path: '/data/x', value: '2' }]), { ...rejected, then: [[get('~/configmaps/a'), ok({ data: { y: '2' } })]] }],
    ['test of the resourceVersion', [a], json([{ op: 'test', path: '/metadata/resourceVersion', value: '{a.metadata.resourceVersion}' }]), ok()],
    ['escaped keys', [a], json([{ op: 'add', path: '/metadata/annotations', value: {} }, { op: 'add', path: '/metadata/annotations/example.com~1x', value: '1' }]), ok({ metadata: { annotations: { 'example.com/x': '1' } } })],
    ['an empty list', [a], json([]), ok({ metadata: { resourceVersion: '{a.metadata.resourceVersion}' } })],
    ['remove of what is not there', [a], json([{ op: 'remove', path: '/data/none' }]), rejected],
    ['add under what is not there', [a], json([{ op: 'add', path: '/none/x', value: '1' }]), rejected],
    ['an operation that is none', [a], json([{ op: 'x', path: '/data/x', value: '1' }]), rejected],
    ['an operation without op', [a], json([{ path: '/data/x' }]), rejected],
    ['a path without a slash', [a], json([{ op: 'add', path: 'data', value: '1' }]), rejected],
    ['that makes data a text', [a], json([{ op: 'add', path: '/data', value: 'x' }]), refused(422, 'Invalid', /^ "" is invalid: patch: Invalid value: /)],
    ['that replaces the whole object', [a], json([{ op: 'replace', path: '', value: {} }]), refused(400, 'BadRequest', /was undeterminable/)],
    ['that is an object', [a], json({}), refused(400, 'BadRequest', /^error decoding patch: /)],
    ['that is cut short', [a], json('{'), refused(400, 'BadRequest', /^error decoding patch: unexpected end of JSON input/)],
    ['with too many operations', [a], json(Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/x', value: '1' }))), refused(413, 'RequestEntityTooLarge', 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001')],
    ['of what is not there', [], patch('~/configmaps/none', [], 'json'), notFound('configmaps "none" not found')],
    ['of a prototype', [a], json([{ op: 'add', path: '/__proto__/polluted', value: '1' }]), rejected],
  ],
};

// prettier-ignore
export const patchTypes: Table = {
  name: 'patch types',
  rows: [
    ['text', [a], patch('~/configmaps/a', '{}', 'text/plain'), refused(415, 'UnsupportedMediaType')],
    ['plain JSON', [a], patch('~/configmaps/a', {}, 'application/json'), refused(415, 'UnsupportedMediaType')],
    ['none', [a], { ...patch('~/configmaps/a', '{}'), headers: { 'content-type': '' } }, refused(415, 'UnsupportedMediaType')],
    ['CBOR apply', [a], patch('~/configmaps/a', 'x', 'application/apply-patch+cbor'), refused(415, 'UnsupportedMediaType')],
    ['with a charset', [a], patch('~/configmaps/a', '{"data":{"z":"3"}}', 'application/merge-patch+json; charset=utf-8'), ok({ data: { z: '3' } })],
    ['an unknown field validation', [a], patch('~/configmaps/a?fieldValidation=X', {}), refused(422, 'Invalid', /fieldValidation: Unsupported value: "X"/)],
    ['of a collection', [a], patch('~/configmaps', {}), refused(405, 'MethodNotAllowed')],
  ],
};

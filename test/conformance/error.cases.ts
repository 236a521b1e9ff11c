import {
  aConfigMap,
  configMap,
  del,
  get,
  head,
  created,
  names,
  notFound,
  ok,
  patch,
  pod,
  post,
  put,
  refused,
  type Row,
  type Step,
  type Table,
} from './case.js';

const sent = (body: string, type = 'application/json'): Step => post('~/configmaps', body, { 'content-type': type });
const unreadable = (name: string, body: string, message: string | RegExp, type?: string): Row => [
  name,
  [],
  sent(body, type),
  refused(400, 'BadRequest', message),
];
const start =
  "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: ";

const protobuf = 'application/vnd.kubernetes.protobuf';
const unrecognized = 'the object provided is unrecognized (must be of type ConfigMap): ';
/** The start of a ConfigMap in protobuf: magic bytes and TypeMeta. */
const envelopeStart = 'k8s\0\n\x0f\n\x02v1\x12\x09ConfigMap\x12';

// prettier-ignore
export const badBodies: Table = {
  name: 'bodies',
  rows: [
    unreadable('nothing', '', `${start}unexpected end of JSON input (<empty>)`),
    unreadable('cut short', '{', `${start}unexpected end of JSON input ({)`),
    unreadable('no JSON', 'hello', `${start}invalid character 'h' looking for beginning of value (68656c6c6f)`),
    unreadable('a list', '[]', /^the object provided is unrecognized \(must be of type ConfigMap\): couldn't get version\/kind/),
    unreadable('a text', '"x"', /^the object provided is unrecognized \(must be of type ConfigMap\)/),
    unreadable('a number', '5', /^the object provided is unrecognized \(must be of type ConfigMap\)/),
    unreadable('more behind it', '{"metadata":{"name":"tr"}} x', `${start}invalid character 'x' after top-level value ({"metadata":{"name":"tr"}} x)`),
    unreadable('a bad escape', '{"metadata":{"name":"\\q"}}', /invalid character 'q' in string escape code/),
    unreadable('kind is a number', '{"apiVersion":"v1","kind":5}', /json: cannot unmarshal number into Go struct field \.kind of type string/),
    unreadable('metadata is a list', '{"metadata":[]}', 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal array into Go struct field ConfigMap.metadata of type v1.ObjectMeta'),
    unreadable('labels are a text', '{"metadata":{"name":"a","labels":"x"}}', /cannot unmarshal string into Go struct field ObjectMeta\.metadata\.labels of type map\[string\]string/),
    unreadable('a label is a number', '{"metadata":{"name":"a","labels":{"l":1}}}', /cannot unmarshal number into Go struct field ObjectMeta\.metadata\.labels of type string/),
    unreadable('finalizers hold a number', '{"metadata":{"name":"a","finalizers":[1]}}', /cannot unmarshal number/),
    unreadable('another kind', '{"apiVersion":"v1","kind":"Secret"}', /^Secret in version "v1" cannot be handled as a ConfigMap/),
    unreadable('the kind of its list', '{"apiVersion":"v1","kind":"ConfigMapList"}', /^ConfigMapList in version "v1" cannot be handled as a ConfigMap/),
    unreadable('another version', '{"apiVersion":"v9","kind":"ConfigMap"}', /^(ConfigMap in version "v9" cannot be handled as a ConfigMap|the API version in the data \(v9\))/),
    unreadable('another group', '{"apiVersion":"apps/v1","kind":"ConfigMap"}', /^ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps\/v1"/),
    unreadable('no version at all', '{"apiVersion":"a/b/c","kind":"ConfigMap"}', /unexpected GroupVersion string: a\/b\/c/),
    unreadable('YAML that is none', 'a: b: c', /^the object provided is unrecognized \(must be of type ConfigMap\): .*yaml/, 'application/yaml'),
    unreadable('protobuf that is none', 'hello', `${unrecognized}provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (68656c6c6f)`, protobuf),
    unreadable('protobuf, empty', '', `${unrecognized}empty data (<empty>)`, protobuf),
    unreadable('protobuf, its prefix alone', 'k8s\0', `${unrecognized}empty body (6b387300)`, protobuf),
    unreadable('protobuf, cut short', `${envelopeStart}\x18\n\x06`, /unexpected EOF/, protobuf),
    ['protobuf', [], sent(`${envelopeStart}\x18\n\x06\n\x04made\x12\x0e\n\x06colour\x12\x04blue`, protobuf), created({ metadata: { name: 'made' }, data: { colour: 'blue' } }, { headers: { 'content-type': 'application/json' } })],
    ['null', [], sent('null'), refused(422, 'Invalid', /name or generateName is required/)],
    ['an empty object without a name is rejected (422)', [], sent('{}'), refused(422, 'Invalid', /name or generateName is required/)],
    ['a body without a Content-Type is JSON', [], sent('{"metadata":{"name":"a"}}', ''), created({ metadata: { name: 'a' } })],
    ['a Content-Type with a charset is accepted', [], sent('{"metadata":{"name":"a"}}', 'application/json; charset=utf-8'), created({ metadata: { name: 'a' } })],
    ['YAML', [], sent('metadata:\n  name: a\ndata:\n  x: "1"\n', 'application/yaml'), created({ metadata: { name: 'a' }, data: { x: '1' } })],
    ['null fields are absent', [], sent('{"metadata":{"name":"a","labels":null},"data":null}'), created({ metadata: { name: 'a' } }, { absent: ['data', 'metadata.labels'] })],
    ['the key __proto__ is rejected (400)', [], sent('{"metadata":{"name":"a"},"data":{"x":"1"},"__proto__":{"polluted":true}}'), refused(400, 'BadRequest', /the key "__proto__" is not allowed/)],
    ['a body above 3 MiB is rejected (413)', [], post('~/configmaps', configMap('a', { data: { x: 'x'.repeat(3 * 1024 * 1024) } })), refused(413, 'RequestEntityTooLarge', 'Request entity too large: limit is 3145728')],
    ['data above the limit of a ConfigMap is rejected (422)', [], post('~/configmaps', configMap('a', { data: { x: 'x'.repeat(1024 * 1024 + 1) } })), refused(422, 'Invalid', /Too long: may not be more than 1048576 bytes/)],
    ['text', [], sent('{}', 'text/plain'), refused(415, 'UnsupportedMediaType', /^the body of the request was in an unknown format - accepted media types include: application\/json, application\/yaml/)],
    ['a form is rejected (415)', [], sent('a=b', 'application/x-www-form-urlencoded'), refused(415, 'UnsupportedMediaType')],
    ['a patch Content-Type on POST is rejected (415)', [], sent('{}', 'application/merge-patch+json'), refused(415, 'UnsupportedMediaType')],
    ['an invalid Content-Type is rejected (415)', [], sent('{}', 'application/;;'), refused(415, 'UnsupportedMediaType')],
  ],
};

// prettier-ignore
export const fieldValidation: Table = {
  name: 'duplicate fields',
  rows: [
    ['are warned of by default', [], sent('{"metadata":{"name":"a"},"data":{"x":"1","x":"2"}}'), created({ data: { x: '2' } }, { warnings: [expect.stringContaining('duplicate field "data.x"')] })],
    ['are ignored with fieldValidation=Ignore', [], { ...sent('{"metadata":{"name":"a"},"data":{"x":"1","x":"2"}}'), path: '~/configmaps?fieldValidation=Ignore' }, created({}, { warnings: [] })],
    ['are rejected with fieldValidation=Strict (400)', [], { ...sent('{"metadata":{"name":"a"},"data":{"x":"1","x":"2"}}'), path: '~/configmaps?fieldValidation=Strict' }, refused(400, 'BadRequest', /strict decoding error: .*duplicate field "data\.x"/)],
    ['an unknown fieldValidation is rejected (422)', [], { ...sent('{"metadata":{"name":"a"}}'), path: '~/configmaps?fieldValidation=X' }, refused(422, 'Invalid', 'CreateOptions.{group:meta} "" is invalid: fieldValidation: Unsupported value: "X": supported values: "", "Ignore", "Strict", "Warn"')],
    ['a fieldManager above 128 bytes is rejected (422)', [], { ...sent('{"metadata":{"name":"a"}}'), path: `~/configmaps?fieldManager=${'m'.repeat(129)}` }, refused(422, 'Invalid', /fieldManager: Too long: may not be more than 128 bytes/)],
    ['a fieldManager with a control character is rejected (422)', [], { ...sent('{"metadata":{"name":"a"}}'), path: '~/configmaps?fieldManager=a%01b' }, refused(422, 'Invalid', /invalid character U\+0001 \(at position 1\)/)],
  ],
};

const notAllowed = (step: Step): Row => [
  `${step.method} ${step.path}`,
  [aConfigMap('a')],
  step,
  refused(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource'),
];
const nothing = (path: string): Row => [
  `GET ${path}`,
  [],
  get(path),
  notFound('the server could not find the requested resource'),
];
const anything = (path: string, want: Row[3]): Row => [`GET ${path}`, [aConfigMap('a')], get(path), want];
const page: Row[3] = {
  code: 404,
  text: '404 page not found\n',
  headers: { 'content-type': 'text/plain; charset=utf-8' },
};

// prettier-ignore
export const paths: Table = {
  name: 'paths and methods',
  rows: [
    nothing('/api/v1/nothings'),
    nothing('~/nothings'),
    nothing('/api/v2/pods'),
    nothing('/apis/none.example.com/v1/things'),
    nothing('/api/v1/watch/namespaces/none/nothings'),
    nothing('/api/v1/configmaps/a'),
    nothing('/api/v1/namespaces/{ns}/nodes'),
    anything('/nothing', page),
    anything('/apix', page),
    anything('~/configmaps/a/', ok({ kind: 'ConfigMap' })),
    anything('~/configmaps/', ok({ kind: 'ConfigMapList' })),
    anything('~/configmaps?fieldSelector=metadata.name=a', names('a')),
    anything('~/configmaps/A_', notFound('configmaps "A_" not found')),
    anything('/api/v1/namespaces/A_/pods', names()),
    anything('~/configmaps/%61', ok({ metadata: { name: 'a' } })),
    anything('~/configmaps/%zz', { code: 400 }),
    anything('/api/v1/watch', refused(400, 'BadRequest', /unable to determine kind and namespace/)),
    ['POST to a deprecated watch path is not allowed (405)', [], post('/api/v1/watch/namespaces/{ns}/pods', {}), refused(405, 'MethodNotAllowed')],
    anything('/api', ok({ kind: 'APIVersions', versions: ['v1'] })),
    anything('/api/v1', ok({ kind: 'APIResourceList', groupVersion: 'v1' })),
    anything('/apis', ok({ kind: 'APIGroupList' })),
    anything('/apis/{group:coordination}', ok({ kind: 'APIGroup', name: '{group:coordination}' })),
    anything('/apis/{group:coordination}/v1', ok({ kind: 'APIResourceList', groupVersion: '{group:coordination}/v1' })),
    anything('/version', ok({ major: '1', minor: '37' })),
    anything('/openapi/v2', ok({ swagger: '2.0' })),
    anything('/openapi/v3', { code: 200, text: /"\/openapi\/v3\/api\/v1\?hash=/ }),
    anything('/openapi/v3/api/v1', ok({ openapi: '3.0.0' })),
    anything('/openapi/v3/apis/{group:coordination}/v1', ok({ openapi: '3.0.0' })),
    anything('/openapi/v3/version', ok({ openapi: '3.0.0' })),
    anything('/openapi/v3/apis/none.example.com/v1', { code: 404, text: '' }),
    anything('/openapi/v1', page),
    anything('/healthz', { code: 200, text: 'ok' }),
    anything('/livez', { code: 200, text: 'ok' }),
    anything('/readyz', { code: 200, text: 'ok' }),
    anything('/livez/ping', { code: 200, text: 'ok' }),
    anything('/metrics', { code: 200, text: /^# HELP /m }),
    notAllowed(post('~/configmaps/a', {})),
    notAllowed(put('~/configmaps', {})),
    notAllowed(patch('~/configmaps', {})),
    notAllowed(del('/api/v1/namespaces')),
    notAllowed({ method: 'OPTIONS', path: '~/configmaps' }),
    notAllowed({ method: 'TRACE', path: '~/configmaps' }),
    notAllowed({ method: 'PROPFIND', path: '~/configmaps' }),
    ['HEAD of an object has its headers and no body', [aConfigMap('a')], head('~/configmaps/a'), { code: 200, text: '', headers: { 'content-type': 'application/json', 'content-length': expect.stringMatching(/^[1-9]/) } }],
    ['HEAD of a collection has its headers and no body', [aConfigMap('a')], head('~/configmaps'), { code: 200, text: '', headers: { 'content-type': 'application/json' } }],
    ['HEAD of an absent object is not found (404)', [], head('~/configmaps/none'), { code: 404, text: '' }],
    ['an invalid timeout is rejected (400)', [], get('~/configmaps?timeout=x'), refused(400, 'BadRequest', /^invalid timeout specified in the request URL/)],
  ],
};

const accept = (value: string) => ({ accept: value });
const one = [aConfigMap('a', { data: { x: '1' } })];
const asTable = 'application/json;as=Table;g={group:meta};v=v1';
const asMetadata = 'application/json;as=PartialObjectMetadata;g={group:meta};v=v1';
const asMetadataList = 'application/json;as=PartialObjectMetadataList;g={group:meta};v=v1';
const unacceptable = refused(
  406,
  'NotAcceptable',
  /^406: Not Acceptable\n\nAvailable representations: application\/json/,
);

// prettier-ignore
export const representations: Table = {
  name: 'representations',
  rows: [
    ['JSON by default', one, get('~/configmaps/a'), ok({ kind: 'ConfigMap' }, { headers: { 'content-type': 'application/json' } })],
    ['any', one, get('~/configmaps/a', accept('*/*')), ok({ kind: 'ConfigMap' })],
    ['an empty Accept gets JSON', one, get('~/configmaps/a', accept('')), ok({ kind: 'ConfigMap' })],
    ['the first known media type is chosen', one, get('~/configmaps/a', accept('application/xml, application/json;q=0.5')), ok({ kind: 'ConfigMap' })],
    ['unknown parameters are ignored', one, get('~/configmaps/a', accept('application/json; charset=utf-8')), ok({ kind: 'ConfigMap' })],
    ['YAML', one, get('~/configmaps/a', accept('application/yaml')), { code: 200, headers: { 'content-type': 'application/yaml' }, text: /^apiVersion: v1\ndata:\n {2}x: "1"\nkind: ConfigMap\n/ }],
    ['a list in YAML', one, get('~/configmaps?fieldSelector=metadata.name=a', accept('application/yaml')), { code: 200, text: /^apiVersion: v1\nitems:\n- data:/ }],
    ['an error in YAML', [], get('~/configmaps/none', accept('application/yaml')), { code: 404, headers: { 'content-type': 'application/yaml' }, text: /\nreason: NotFound\n/ }],
    ['pretty', one, get('~/configmaps/a?pretty=true'), { code: 200, text: /^\{\n {2}"kind": "ConfigMap",\n/ }],
    ['an error with pretty=true', one, get('~/configmaps/none?pretty=true'), { code: 404, text: /^\{\n {2}"kind": "Status",\n/ }],
    ['an error for curl is pretty', one, get('~/nope/a', { 'user-agent': 'curl/8' }), { code: 404, text: /^\{\n {2}"kind": "Status",\n/ }],
    ['an error with pretty=false', one, get('~/configmaps/none?pretty=false'), { code: 404, text: /^\{"kind":"Status"/ }],
    ['an object with pretty=false', one, get('~/configmaps/a?pretty=false'), { code: 200, text: /^\{"kind":"ConfigMap"/ }],
    ['an object for curl is pretty', one, get('~/configmaps/a', { 'user-agent': 'curl/8' }), { code: 200, text: /^\{\n/ }],
    ['an unknown media type is not acceptable (406)', one, get('~/configmaps/a', accept('application/xml')), unacceptable],
    ['an unknown media type for a list is not acceptable (406)', one, get('~/configmaps', accept('text/html')), unacceptable],
    ['nonsense', one, get('~/configmaps/a', accept('garbage')), unacceptable],
    ['a POST with an unacceptable Accept stores nothing (406)', [], post('~/configmaps', configMap('a'), accept('application/xml')), { ...unacceptable, then: [[get('~/configmaps/a'), notFound()]] }],
    ['a Table of one object', one, get('~/configmaps/a', accept(asTable)), ok({ kind: 'Table', apiVersion: '{group:meta}/v1', columnDefinitions: [{ name: 'Name', type: 'string', format: 'name', priority: 0 }, { name: 'Data' }, { name: 'Age' }], rows: [{ cells: ['a', 1, expect.stringMatching(/^\d+s$/)], object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } } }] })],
    ['a Table of a list', [...one, aConfigMap('b')], get('~/configmaps?fieldSelector=metadata.name!={system:root-ca.crt}', accept(asTable)), ok({ kind: 'Table', metadata: { resourceVersion: expect.any(String) }, rows: [{ cells: ['a', 1, expect.any(String)] }, { cells: ['b', 0, expect.any(String)] }] })],
    ['a Table with includeObject=Object', one, get('~/configmaps/a?includeObject=Object', accept(asTable)), ok({ rows: [{ object: { kind: 'ConfigMap', data: { x: '1' } } }] })],
    ['a Table with includeObject=None', one, get('~/configmaps/a?includeObject=None', accept(asTable)), ok({ rows: [{ cells: expect.any(Array) }] }, { absent: ['rows.0.object.kind'] })],
    ['an unknown includeObject is rejected (400)', one, get('~/configmaps/a?includeObject=X', accept(asTable)), { code: 400 }],
    ['a Table is preferred to an object', one, get('~/configmaps/a', accept(`${asTable}, application/json`)), ok({ kind: 'Table' })],
    ['a page of a Table', [...one, aConfigMap('b')], get('~/configmaps?limit=1', accept(asTable)), ok({ metadata: { continue: expect.any(String) }, rows: [{ cells: ['a', 1, expect.any(String)] }] })],
    ['a Table of an unknown version falls back to an object', one, get('~/configmaps/a', accept('application/json;as=Table;g={group:meta};v=v9, application/json')), ok({ kind: 'ConfigMap' })],
    ['a Table of an unknown version alone is not acceptable (406)', one, get('~/configmaps/a', accept('application/json;as=Table;g={group:meta};v=v9')), refused(406, 'NotAcceptable', /^only the following media types are accepted: application\/json/)],
    ['an unknown transform is not acceptable (406)', one, get('~/configmaps/a', accept('application/json;as=Nothing;g={group:meta};v=v1')), refused(406, 'NotAcceptable')],
    ['PartialObjectMetadata of one object', one, get('~/configmaps/a', accept(asMetadata)), ok({ kind: 'PartialObjectMetadata', apiVersion: '{group:meta}/v1', metadata: { name: 'a', uid: '{a.metadata.uid}' } }, { absent: ['data'] })],
    ['PartialObjectMetadataList of a list', one, get('~/configmaps?fieldSelector=metadata.name=a', accept(asMetadataList)), ok({ kind: 'PartialObjectMetadataList', items: [{ metadata: { name: 'a' } }] }, { absent: ['items.0.data'] })],
    ['PartialObjectMetadataList of one object is not acceptable (406)', one, get('~/configmaps/a', accept(asMetadataList)), refused(406, 'NotAcceptable', /you requested PartialObjectMetadataList, but the requested object is not a list/)],
    ['PartialObjectMetadata of a created object', [], post('~/configmaps', configMap('a', { data: { x: '1' } }), accept(asMetadata)), created({ kind: 'PartialObjectMetadata' }, { absent: ['data'] })],
    ['the highest quality is chosen', one, get('~/configmaps/a', accept('application/json;q=0.3, application/yaml;q=0.8')), { code: 200, headers: { 'content-type': 'application/yaml' } }],
    ['application/* alone is not acceptable (406)', one, get('~/configmaps/a', accept('application/*')), unacceptable],
    ['application/* with a known type gets JSON', one, get('~/configmaps/a', accept('application/*, application/yaml;q=0.1')), ok({}, { headers: { 'content-type': 'application/json' } })],
    ['protobuf', one, get('~/configmaps/a', accept(protobuf)), { code: 200, headers: { 'content-type': protobuf }, text: /^k8s\0/ }],
    ['a list in protobuf', one, get('~/configmaps', accept(protobuf)), { code: 200, headers: { 'content-type': protobuf }, text: /^k8s\0.*ConfigMapList/s }],
    ['an error in protobuf', [], get('~/configmaps/none', accept(`${protobuf}, application/json`)), { code: 404, headers: { 'content-type': protobuf }, text: /^k8s\0.*NotFound/s }],
    ['PartialObjectMetadataList in protobuf', one, get('~/configmaps', accept(`${protobuf};as=PartialObjectMetadataList;g={group:meta};v=v1`)), { code: 200, headers: { 'content-type': protobuf }, text: /^k8s\0.*PartialObjectMetadataList/s }],
    ['a Table in protobuf falls back to JSON', one, get('~/configmaps/a', accept(`${protobuf};as=Table;g={group:meta};v=v1, ${asTable}`)), ok({ kind: 'Table' }, { headers: { 'content-type': 'application/json' } })],
    ['a Table in protobuf alone is not acceptable (406)', one, get('~/configmaps/a', accept(`${protobuf};as=Table;g={group:meta};v=v1`)), { code: 406 }],
    ['a Table in YAML', one, get('~/configmaps/a', accept(asTable.replace('json', 'yaml'))), { code: 200, headers: { 'content-type': 'application/yaml' }, text: /^apiVersion: meta\.[^]*\nkind: Table\n/ }],
    ['a Table with pretty=1', one, get('~/configmaps?pretty=1', accept(asTable)), { code: 200, text: /^\{\n {2}"kind": "Table",\n/ }],
    ['CBOR with its feature gate off is not acceptable (406)', one, get('~/configmaps/a', accept('application/cbor')), unacceptable],
    ['CBOR with its feature gate off falls back to JSON', one, get('~/configmaps/a', accept('application/cbor, application/json')), ok({ kind: 'ConfigMap' })],
    ['an error is a Status and not a Table (404)', [], get('~/configmaps/none', accept(`${asTable}, application/json`)), notFound()],
  ],
};

const deprecatedEndpoints = {
  warnings: [expect.stringMatching(/^v1 Endpoints is deprecated in v1\.33\+; use discovery\.[^/]+\/v1 EndpointSlice$/)],
};

// prettier-ignore
export const answers: Table = {
  name: 'headers',
  rows: [
    ['answers have Audit-ID and Cache-Control', one, get('~/configmaps/a'), ok({}, { headers: { 'audit-id': expect.stringMatching(/^[\w-]{36}$/), 'cache-control': 'no-cache, private' } })],
    ['errors have Audit-ID and Cache-Control', [], get('~/configmaps/none'), { code: 404, headers: { 'audit-id': expect.any(String), 'cache-control': 'no-cache, private', 'content-type': 'application/json' } }],
    ['the Audit-ID of the client is answered', one, get('~/configmaps/a', { 'audit-id': 'mine-1' }), ok({}, { headers: { 'audit-id': 'mine-1' } })],
    ['a long Audit-ID with any characters is answered', one, get('~/configmaps/a', { 'audit-id': `a "b"${'c'.repeat(5_000)}` }), ok({}, { headers: { 'audit-id': `a "b"${'c'.repeat(5_000)}` } })],
    ['an error has Retry-After (504)', [], get('~/configmaps?resourceVersion=999999999999'), { code: 504, headers: { 'retry-after': '1' }, body: { details: { retryAfterSeconds: 1, causes: [{ reason: 'ResourceVersionTooLarge' }] } } }],
    ['a warning about the object', [], post('~/pods', pod('a.b')), created({}, { warnings: [expect.stringMatching(/^metadata\.name: this is used in the Pod's hostname/)] })],
    ['no Warning header without warnings', [], post('~/configmaps', configMap('a')), created({}, { warnings: [] })],
    ['a list of a deprecated kind has a warning', [], get('~/endpoints'), ok({}, deprecatedEndpoints)],
    ['an error of a deprecated kind has a warning', [], get('~/endpoints/none'), { ...notFound(), ...deprecatedEndpoints }],
    ['a request that is not allowed has no warning (405)', [], put('~/endpoints', {}), { code: 405, warnings: [] }],
  ],
};

import fc from 'fast-check';
import { mutated, pointers, templates } from './objects.js';

/** A request from which bytes are built. */
export interface FuzzRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: Buffer | undefined;
  /** Framing of the body: length, chunks, too much, too little, invalid. */
  readonly framing?: 'length' | 'chunks' | 'tooMuch' | 'tooLittle' | 'badChunk';
}

const kinds = Object.keys(templates);
const places: readonly (readonly [kind: string, collection: string, named: string])[] = [
  ['Namespace', '/api/v1/namespaces', '/api/v1/namespaces/fuzz'],
  ['Node', '/api/v1/nodes', '/api/v1/nodes/base'],
  ...(['Pod', 'ConfigMap', 'Service', 'Secret', 'ServiceAccount', 'Endpoints', 'Event'] as const).map(
    (kind): [string, string, string] => {
      const plural = kind === 'Endpoints' ? 'endpoints' : `${kind.toLowerCase()}s`;
      return [kind, `/api/v1/namespaces/fuzz/${plural}`, `/api/v1/namespaces/fuzz/${plural}/base`];
    },
  ),
  [
    'Lease',
    '/apis/coordination.k8s.io/v1/namespaces/fuzz/leases',
    '/apis/coordination.k8s.io/v1/namespaces/fuzz/leases/base',
  ],
];
const otherPaths = [
  ...['/', '/api', '/api/', '/apis', '/apis/', '/api/v1', '/apis/coordination.k8s.io', '/apis/coordination.k8s.io/v1'],
  ...['/healthz', '/livez', '/readyz', '/readyz/etcd', '/readyz?verbose', '/version', '/metrics', '/openapi/v2'],
  ...['/openapi/v3', '/api/v1/pods', '/api/v1/watch/pods', '/api/v1/watch/namespaces/fuzz/pods/base', '/nothing'],
  ...['/api/v1/namespaces/fuzz/pods/base/binding', '/api/v1/namespaces/fuzz/pods/base/log', '/api/v1/bindings'],
  ...['/api/v1/namespaces/fuzz/finalize', '/api/v1/namespaces/fuzz/bindings', '/apis//', '//', '/api//v1/pods'],
];
const subresources = ['status', 'scale', 'binding', 'eviction', 'finalize', 'resize', 'ephemeralcontainers', 'proxy'];
const oddities = ['', '%', '%2', '%zz', '%00', '%2e%2e', '..', '.', '%2F', '%ff', '%F0%9F%92%A9', '+', ';', '*', '~'];
const oddNames = [...oddities, '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'a'.repeat(300), 'x:y', 'A'];

const segment = fc.oneof(fc.constantFrom(...oddNames), fc.webSegment({ size: 'small' }));
const path = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...places.flatMap(([, collection, named]) => [collection, named])) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...places), fc.constantFrom(...subresources, ...oddities))
      .map(([[, , named], subresource]) => `${named}/${subresource}`),
  },
  { weight: 2, arbitrary: fc.constantFrom(...otherPaths) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...places), segment).map(([[, at], odd]) => `${at}/${odd}`) },
  { weight: 1, arbitrary: fc.array(segment, { maxLength: 9 }).map((segments) => `/${segments.join('/')}`) },
);

const parameters: Readonly<Record<string, readonly string[]>> = {
  watch: ['1', 'true', '0', 'x', ''],
  timeoutSeconds: ['0', '1', '-1', '1e9', '99999999999999999999', 'x'],
  timeout: ['1ms', '0', '-1s', '1h', 'x', '10'],
  limit: ['0', '1', '-1', '2', '1.5', '9223372036854775808'],
  continue: ['x', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYSJ9', '%00', '='],
  resourceVersion: ['', '0', '1', '5', '-1', 'x', '00', '9007199254740993', '99999999999999999999'],
  resourceVersionMatch: ['', 'Exact', 'NotOlderThan', 'x'],
  labelSelector: ['', 'a=b', 'a in (b,c)', '!a', ',', 'a in (', 'a==b,,', 'x/y/z=1', '(', 'a>5', `a=${'b'.repeat(80)}`],
  fieldSelector: ['', 'metadata.name=base', 'spec.nodeName=', 'a=b', '=', 'metadata.name', 'a\\,b=c\\', '__proto__=1'],
  sendInitialEvents: ['true', 'false', 'x'],
  allowWatchBookmarks: ['true', 'x'],
  dryRun: ['All', '', 'x', 'All,All'],
  fieldManager: ['m', '', 'x'.repeat(200), '\u0000'],
  fieldValidation: ['Strict', 'Warn', 'Ignore', 'x'],
  gracePeriodSeconds: ['0', '-1', '1', 'x', '1e30'],
  propagationPolicy: ['Orphan', 'Foreground', 'Background', 'x'],
  orphanDependents: ['true', 'x'],
  force: ['true', 'x'],
  pretty: ['true', '1', 'x'],
  includeObject: ['None', 'Object', 'x'],
};
const known = fc
  .constantFrom(...Object.keys(parameters))
  .chain((name) => fc.constantFrom(...parameters[name]!).map((value) => `${name}=${encodeURIComponent(value)}`));
const query = fc
  .array(
    fc.oneof({ weight: 6, arbitrary: known }, { weight: 1, arbitrary: fc.webQueryParameters({ size: 'small' }) }),
    {
      maxLength: 4,
    },
  )
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`));

const accepts = [
  ...[
    'application/json',
    'application/yaml',
    '*/*',
    'application/*',
    'text/html',
    'application/vnd.kubernetes.protobuf',
  ],
  ...['application/cbor', 'application/json;as=Table;g=meta.k8s.io;v=v1', 'application/json;as=Table;g=x;v=v9', ';;;'],
  ...['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'application/json;q=0', 'application/json;q=x'],
  ...['application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json', 'a/b/c', ',', '"'],
  ...['application/json;stream=watch', 'application/json;pretty=1', 'application/yaml;as=Table;g=meta.k8s.io;v=v1'],
];
const contentTypes = [
  ...[
    'application/json',
    'application/yaml',
    'application/json; charset=utf-8',
    'application/json;charset=x',
    'text/plain',
  ],
  ...['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json', ''],
  ...['application/apply-patch+yaml', 'application/vnd.kubernetes.protobuf', 'application/cbor', '/', ';', '__proto__'],
];
const headerText = fc
  .oneof(fc.constantFrom(...oddNames), fc.string({ maxLength: 30 }))
  .map((text) => text.replace(/[^\x20-\x7e]/g, '?'));
const header = fc.oneof(
  fc.constantFrom(...accepts).map((value): [string, string] => ['accept', value]),
  fc
    .tuple(
      fc.constantFrom(
        ...[
          'impersonate-user',
          'impersonate-group',
          'impersonate-uid',
          'impersonate-extra-a%2fb',
          'impersonate-extra-%',
        ],
        ...[
          'impersonate-extra-__proto__',
          'range',
          'authorization',
          'user-agent',
          'audit-id',
          'if-none-match',
          'origin',
        ],
        ...['if-match', 'accept-encoding', 'expect', 'upgrade', 'x-http-method-override', 'traceparent', '__proto__'],
      ),
      headerText,
    )
    .map(([name, value]): [string, string] => [name, value]),
  headerText.map((value): [string, string] => ['authorization', `Bearer ${value}`]),
  fc.integer({ min: 1, max: 70_000 }).map((length): [string, string] => ['x-large', 'x'.repeat(length)]),
);

const jsonBody = fc.constantFrom(...kinds).chain((kind) => mutated(templates[kind]!));
const patchPath = fc.oneof(
  fc.constantFrom(...kinds.flatMap((kind) => pointers(templates[kind]!))),
  fc.constantFrom(
    '',
    '/',
    '/metadata',
    '/metadata/labels/-',
    '/-',
    '/__proto__/x',
    '/constructor/prototype/x',
    'x',
    '/a~2',
  ),
);
const jsonPatch = fc.array(
  fc.record(
    {
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
      path: patchPath,
      from: patchPath,
      value: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: ['op', 'path'] },
  ),
  { maxLength: 5 },
);
const nested = (open: string, close: string) =>
  fc.integer({ min: 1, max: 50_000 }).map((depth) => `{"a":${open.repeat(depth)}1${close.repeat(depth)}}`);
const odd = [
  ...['', 'null', '[]', '{}', '"x"', '1e400', '{"metadata":null}', '{"metadata":[]}', '{"a":1', '{"a":1}}', '\ufeff{}'],
  ...['{"__proto__":{"polluted":1}}', '{"metadata":{"labels":{"__proto__":{"polluted":"1"}}}}', '{"a":1,"a":2}'],
  ...[
    '{"constructor":{"prototype":{"polluted":1}}}',
    '{"metadata":{"name":"\\u0000"}}',
    '{"metadata":{"name":"\\ud800"}}',
  ],
  ...['{"metadata":{"generation":1e999}}', '{"a":9007199254740993,"b":-0,"c":1E-400}', 'a: &a [*a]', '!!js/function x'],
  ...[
    'a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]',
    '--- {}\n--- {}',
    '<<: {a: 1}',
    '%YAML 9',
  ],
];
const body = fc.oneof(
  { weight: 8, arbitrary: jsonBody.map((value) => Buffer.from(JSON.stringify(value))) },
  { weight: 3, arbitrary: jsonPatch.map((value) => Buffer.from(JSON.stringify(value))) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 4 }).map((text) => Buffer.from(text)) },
  { weight: 2, arbitrary: fc.constantFrom(...odd).map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.oneof(nested('[', ']'), nested('{"a":', '}')).map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
);

const methods = [
  'GET',
  'GET',
  'POST',
  'POST',
  'PUT',
  'PUT',
  'PATCH',
  'PATCH',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
];
const framings = ['length', 'length', 'length', 'length', 'chunks', 'tooMuch', 'tooLittle', 'badChunk'] as const;

/** Any request, mostly close to valid ones. */
export const anyRequest: fc.Arbitrary<FuzzRequest> = fc
  .tuple(
    fc.constantFrom(...methods),
    path,
    query,
    fc.array(header, { maxLength: 3 }),
    fc.constantFrom(...contentTypes),
    body,
    fc.constantFrom(...framings),
  )
  .map(([method, at, parameter, headers, contentType, bytes, framing]) => {
    const target = at + parameter;
    if (!/^(POST|PUT|PATCH|DELETE)$/.test(method)) return { method, target, headers };
    return { method, target, headers: [...headers, ['content-type', contentType]], body: bytes, framing };
  });

/** A write that is invalid only in the object, to reach validation, defaulting and admission. */
export const anyWrite: fc.Arbitrary<FuzzRequest> = fc.constantFrom(...places).chain(([kind, collection, named]) => {
  const template = templates[kind]!;
  const json = (method: string, target: string, type: string) => (value: unknown) => ({
    method,
    target,
    headers: [['content-type', `application/${type}`]] as [string, string][],
    body: Buffer.from(JSON.stringify(value)),
    framing: 'length' as const,
  });
  const own = fc.constantFrom(...pointers(template));
  const ownPatch = fc.array(
    fc.record({ op: fc.constantFrom('add', 'remove', 'replace'), path: own, value: fc.jsonValue({ maxDepth: 2 }) }),
    { minLength: 1, maxLength: 3 },
  );
  return fc.oneof(
    mutated(template).map(json('POST', collection, 'json')),
    mutated(template).map(json('PUT', named, 'json')),
    mutated(template).map(json('PUT', `${named}/status`, 'json')),
    mutated(template).map(json('PATCH', named, 'merge-patch+json')),
    mutated(template).map(json('PATCH', `${named}/status`, 'merge-patch+json')),
    ownPatch.map(json('PATCH', named, 'json-patch+json')),
  );
});

export function bytesOf({ method, target, headers, body: given, framing = 'length' }: FuzzRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, 'host: keelson'];
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  let sent = given ?? Buffer.alloc(0);
  if (given && framing === 'chunks') {
    lines.push('transfer-encoding: chunked');
    sent = Buffer.concat([Buffer.from(`${given.length.toString(16)}\r\n`), given, Buffer.from('\r\n')]);
    sent = given.length === 0 ? Buffer.from('0\r\n\r\n') : Buffer.concat([sent, Buffer.from('0\r\n\r\n')]);
  } else if (given && framing === 'badChunk') {
    lines.push('transfer-encoding: chunked');
    sent = Buffer.concat([Buffer.from('zz\r\n'), given]);
  } else if (given) {
    const said = given.length + (framing === 'tooLittle' ? 10 : 0);
    lines.push(`content-length: ${said}`);
    if (framing === 'tooMuch') sent = Buffer.concat([given, Buffer.from('junk')]);
  }
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), sent]);
}

export function describeRequest({ method, target, headers, body: given, framing }: FuzzRequest): string {
  const text = given && (given.length > 2_000 ? `${given.length} bytes` : given.toString());
  const shown = headers.map(([name, value]) => `${name}: ${value.slice(0, 80)}`).join(', ');
  return `${method} ${target} (${shown}) ${framing ?? ''} ${text ?? ''}`;
}

import fc from 'fast-check';
import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import { DecodeError } from '../std/decode-error.js';
import { EncodeError } from './encode-error.js';
import { decodeJson, encodeJson } from './json.js';
import { protobufEncoding } from './protobuf.js';

const catalog = new Catalog(namingProfile('kubernetes', { apiDomain: 'example.com' }));
const encoding = protobufEncoding('application/x-protobuf', () => catalog);
const decodeHex = (hex: string) => encoding.decode(Buffer.from(hex, 'hex')).value;

const outcome = (bytes: Uint8Array): unknown => {
  try {
    return encoding.decode(bytes).value;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return error.message;
  }
};

/** Builds a message: numbers are varints, strings and messages have their length before them. */
type Content = number | bigint | string | Buffer;
type Fields = readonly (readonly [number, Content])[];
function message(...fields: Fields): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, content]) => {
      if (typeof content === 'number' || typeof content === 'bigint') return [varint(number * 8), varint(content)];
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      return [varint(number * 8 + 2), varint(bytes.length), bytes];
    }),
  );
}
function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}
const prefix = Buffer.from('k8s\0');
const enveloped = (apiVersion: string, kind: string, raw: Buffer) =>
  Buffer.concat([prefix, message([1, message([1, apiVersion], [2, kind])], [2, raw], [3, ''], [4, ''])]);
const pod = (...fields: Fields) => enveloped('v1', 'Pod', message(...fields));

describe('bodies of kubectl', () => {
  const metadata = { name: 'made', namespace: 'demo' };
  it.each<[string, string, object]>([
    [
      'create namespace demo',
      '6b3873000a0f0a02763112094e616d657370616365121c0a140a0464656d6f12001a0022002a0032003800420012001a020a001a002200',
      { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'demo' }, spec: {}, status: {} },
    ],
    [
      'create configmap made --from-literal=colour=blue',
      '6b3873000a0f0a0276311209436f6e6669674d6170122a0a180a046d61646512001a0464656d6f22002a00320038004200120e0a06636f6c6f75721204626c75651a002200',
      { kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { colour: 'blue' } },
    ],
    [
      'create secret generic made --from-literal=password=hush',
      '6b3873000a0c0a0276311206536563726574122e0a180a046d61646512001a0464656d6f22002a0032003800420012100a0870617373776f72641204687573681a001a002200',
      { kind: 'Secret', apiVersion: 'v1', metadata, data: { password: 'aHVzaA==' } },
    ],
    [
      'create serviceaccount made',
      '6b3873000a140a027631120e536572766963654163636f756e74121a0a180a046d61646512001a0464656d6f22002a003200380042001a002200',
      { kind: 'ServiceAccount', apiVersion: 'v1', metadata },
    ],
    [
      'create service clusterip made --clusterip=None --tcp=80:8080',
      '6b3873000a0d0a02763112075365727669636512740a250a046d61646512001a0464656d6f22002a003200380042005a0b0a0361707012046d61646512470a1b0a0738302d38303830120354435018502207080010903f1a002800120b0a0361707012046d6164651a044e6f6e652209436c757374657249503a00420052005a00600068001a020a001a002200',
      {
        kind: 'Service',
        apiVersion: 'v1',
        metadata: { ...metadata, labels: { app: 'made' } },
        spec: {
          ports: [{ name: '80-8080', protocol: 'TCP', port: 80, targetPort: 8080 }],
          selector: { app: 'made' },
          clusterIP: 'None',
          type: 'ClusterIP',
        },
        status: { loadBalancer: {} },
      },
    ],
    [
      'create service nodeport made --tcp=80:http',
      '6b3873000a0d0a02763112075365727669636512720a250a046d61646512001a0464656d6f22002a003200380042005a0b0a0361707012046d61646512450a1e0a0738302d6874747012035443501850220a080110001a04687474702800120b0a0361707012046d6164651a0022084e6f6465506f72743a00420052005a00600068001a020a001a002200',
      {
        kind: 'Service',
        apiVersion: 'v1',
        metadata: { ...metadata, labels: { app: 'made' } },
        spec: {
          ports: [{ name: '80-http', protocol: 'TCP', port: 80, targetPort: 'http' }],
          selector: { app: 'made' },
          type: 'NodePort',
        },
        status: { loadBalancer: {} },
      },
    ],
  ])('kubectl %s', (_command, hex, object) => {
    expect(decodeHex(hex)).toEqual(object);
    expect(encoding.encode(object).toString('hex')).toBe(hex);
  });
});

describe('values', () => {
  const podWith = (...fields: Fields) => outcome(pod([2, message(...fields)]));
  const container = (...fields: Fields) => podWith([2, message([1, 'main'], ...fields)]);
  const spec = (object: object) => ({ kind: 'Pod', apiVersion: 'v1', spec: object });
  const main = (object: object) => spec({ containers: [{ name: 'main', ...object }] });
  const groups = (...supplementalGroups: number[]) => ({ supplementalGroups });
  const metadata = (...fields: Fields) => outcome(pod([1, message(...fields)]));

  it.each<[string, () => unknown, unknown]>([
    ['a zero of a pointer', () => podWith([4, 0]), spec({ terminationGracePeriodSeconds: 0 })],
    ['a zero that JSON omits', () => podWith([11, 0], [3, '']), spec({})],
    ['a required zero', () => container([6, message([3, 0])]), main({ ports: [{ containerPort: 0 }] })],
    ['a negative int32', () => podWith([25, -5]), spec({ priority: -5 })],
    ['a negative int64', () => podWith([4, -5]), spec({ terminationGracePeriodSeconds: -5 })],
    ['a large int64', () => podWith([4, 2n ** 53n + 1n]), spec({ terminationGracePeriodSeconds: 2n ** 53n + 1n })],
    ['the smallest int64', () => podWith([4, -(2n ** 63n)]), spec({ terminationGracePeriodSeconds: -(2n ** 63n) })],
    [
      'quantities',
      () => container([8, message([1, message([1, 'cpu'], [2, message([1, '500m'])])], [1, message([1, 'memory'])])]),
      main({ resources: { limits: { cpu: '500m', memory: '0' } } }),
    ],
    [
      'fields of an inlined message, two levels deep',
      () => podWith([1, message([1, 'v'], [2, message([19, message([1, message([1, 'settings'])], [3, 256])])])]),
      spec({ volumes: [{ name: 'v', configMap: { name: 'settings', defaultMode: 256 } }] }),
    ],
    [
      'a probe',
      () => container([10, message([1, message([2, message([1, '/ok'], [2, message([1, 1], [3, 'http'])])])])]),
      main({ livenessProbe: { httpGet: { path: '/ok', port: 'http' } } }),
    ],
    ['numbers, not packed', () => podWith([14, message([4, 1], [4, 2])]), spec({ securityContext: groups(1, 2) })],
    ['packed numbers', () => podWith([14, message([4, Buffer.of(1, 2)])]), spec({ securityContext: groups(1, 2) })],
    [
      'a message in two occurrences',
      () => podWith([14, message([4, 1])], [14, message([4, 2])]),
      spec({ securityContext: groups(1, 2) }),
    ],
    [
      'times and the zero time',
      () => metadata([8, message()], [9, message([1, 1_700_000_000], [2, 999_999_999])]),
      { kind: 'Pod', apiVersion: 'v1', metadata: { deletionTimestamp: '2023-11-14T22:13:20Z' } },
    ],
    [
      'micro times',
      () =>
        outcome(
          enveloped(
            'coordination.example.com/v1',
            'Lease',
            message([2, message([4, message([1, 1_700_000_000], [2, 12_345_678])])]),
          ),
        ),
      { kind: 'Lease', apiVersion: 'coordination.example.com/v1', spec: { renewTime: '2023-11-14T22:13:20.012345Z' } },
    ],
    [
      'fields that are JSON',
      () => metadata([17, message([1, 'me'], [7, message([1, '{"f:spec":{}}'])])]),
      { kind: 'Pod', apiVersion: 'v1', metadata: { managedFields: [{ manager: 'me', fieldsV1: { 'f:spec': {} } }] } },
    ],
    ['unknown fields', () => podWith([3, 'Always'], [500, 'x'], [501, 7]), spec({ restartPolicy: 'Always' })],
    [
      'DeleteOptions of any version',
      () => outcome(enveloped('apps/v1', 'DeleteOptions', message([1, 0], [2, message([1, 'u'])], [4, 'Orphan']))),
      {
        kind: 'DeleteOptions',
        apiVersion: 'apps/v1',
        gracePeriodSeconds: 0,
        preconditions: { uid: 'u' },
        propagationPolicy: 'Orphan',
      },
    ],
    ['an invalid time', () => metadata([9, message([1, 2n ** 60n])]), expect.stringMatching('out of range')],
    ['a string instead of a number', () => podWith([25, 'x']), 'proto: wrong wireType = 2 for field priority'],
    ['a number instead of a message', () => podWith([14, 1]), 'proto: wrong wireType = 0 for field securityContext'],
    [
      'the key __proto__',
      () => metadata([11, message([1, '__proto__'], [2, 'x'])]),
      'the key "__proto__" is not allowed',
    ],
    [
      'the key __proto__ in a JSON field',
      () => metadata([17, message([7, message([1, '{"__proto__":{}}'])])]),
      'the key "__proto__" is not allowed',
    ],
  ])('decodes %s', (_name, read, want) => expect(read()).toEqual(want));
});

describe('encoding', () => {
  const object = (fields: object) => ({ kind: 'Pod', apiVersion: 'v1', ...fields });
  const written = (fields: object) => encoding.encode(object(fields));

  it.each<[string, object]>([
    ['keys by their bytes', { metadata: { labels: { '\u{1f600}': '1', '\uffff': '2', b: '3', a: '4' } } }],
    ['large and negative numbers', { spec: { terminationGracePeriodSeconds: 2n ** 62n + 1n, priority: -7 } }],
    ['a number of five bytes', { spec: { terminationGracePeriodSeconds: 2 ** 33 + 5 } }],
    ['a string of three Unicode planes', { metadata: { name: 'aé€\u{1f600}'.repeat(30) } }],
    ['a string longer than the first buffer', { metadata: { annotations: { a: 'x'.repeat(200_000) } } }],
  ])('%s: encoded and decoded', (_name, fields) => {
    const want = { metadata: {}, spec: {}, status: {}, ...fields };
    expect(encoding.decode(written(fields)).value).toMatchObject(want);
  });

  it('map keys are sorted by bytes', () => {
    const text = written({ metadata: { labels: { '\u{1f600}': '1', '\uffff': '2', b: '3', a: '4' } } }).toString(
      'utf8',
    );
    const at = ['a', 'b', '\uffff', '\u{1f600}'].map((key) =>
      text.indexOf(`${String.fromCharCode(10, Buffer.byteLength(key))}${key}`),
    );
    expect(at).toEqual([...at].sort((a, b) => a - b));
  });

  it.each<[string, unknown]>([
    ['an unknown kind', { kind: 'Widget', apiVersion: 'example.com/v1' }],
    ['an object without a kind', { metadata: {} }],
    ['a string instead of a number', object({ spec: { priority: 'high' } })],
    ['a fraction instead of an integer', object({ spec: { priority: 1.5 } })],
    ['an object instead of a list', object({ spec: { containers: {} } })],
    ['a list instead of an object', object({ spec: [] })],
    ['an invalid time', object({ metadata: { creationTimestamp: 'yesterday' } })],
  ])('refuses to encode %s', (_name, value) => expect(() => encoding.encode(value)).toThrow(EncodeError));

  it('joins a list from separately encoded objects', () => {
    const items = ['a', 'b'.repeat(300)].map((name) => object({ metadata: { name } }));
    const whole = {
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '7', remainingItemCount: 3 },
      items,
    };
    const { head, itemStart, itemEnd, separator, tail } = encoding.list!;
    const pieces = items
      .map((item) => encoding.encode(item))
      .map((bytes) => bytes.subarray(itemStart(bytes), itemEnd(bytes)));
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    expect(separator).toHaveLength(0);
    expect(Buffer.concat([head(whole, length, pieces.length), ...pieces, tail(whole)])).toEqual(encoding.encode(whole));
    expect(Buffer.concat([head(whole, 0, 0), tail(whole)])).toEqual(encoding.encode({ ...whole, items: [] }));
  });

  it('a watch frame is its length, the event type and the object in its envelope', () => {
    const bytes = written({ metadata: { name: 'a' } });
    const event = message([1, 'ADDED'], [2, message([1, bytes])]);
    expect(encoding.frame!('ADDED', bytes)).toEqual(Buffer.concat([Buffer.of(0, 0, 0, event.length), event]));
  });
});

it.each<[string, Uint8Array, string]>([
  ['nothing', Buffer.of(), 'empty data'],
  [
    'text',
    Buffer.from('hello'),
    'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
  ],
  [
    'half of the magic bytes',
    Buffer.from('k8'),
    'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
  ],
  ['the magic bytes alone', prefix, 'empty body'],
  ['an unfinished field', Buffer.concat([prefix, Buffer.of(0x0a, 5, 1)]), 'unexpected EOF'],
  ['a length beyond the input', Buffer.concat([prefix, Buffer.of(0x0a), varint(2n ** 62n)]), 'unexpected EOF'],
  ['an endless varint', Buffer.concat([prefix, Buffer.alloc(11, 0xff)]), 'proto: integer overflow'],
  ['field number 0', Buffer.concat([prefix, Buffer.of(0, 0)]), 'proto: illegal tag 0 (wire type 0)'],
  ['an invalid wire type', Buffer.concat([prefix, Buffer.of(0x2f)]), 'proto: illegal wireType 7'],
  [
    'a kind without a message',
    enveloped('example.com/v1', 'Widget', message()),
    'no kind "Widget" of version "example.com/v1" can be read from protobuf',
  ],
  [
    'a kind that exists only inside others',
    enveloped('v1', 'PodSpec', message()),
    'no kind "PodSpec" of version "v1" can be read from protobuf',
  ],
])('refuses to decode %s', (_name, bytes, problem) => expect(outcome(bytes)).toBe(problem));

describe('rare wire forms', () => {
  const typed = (type: string) => Object.assign({}, { type });
  /** Sets the zeros of a schema that are not pointers: Go writes them, and they are decoded again. */
  const definition = (schema: object) => ({
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.example.com/v1',
    spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] },
  });
  const review = (extra: object) => ({
    kind: 'TokenReview',
    apiVersion: 'authentication.example.com/v1',
    status: { user: { extra } },
  });

  it.each<[string, object]>([
    ['a schema', definition({ items: typed('string') })],
    ['schemas', definition({ items: [typed('string'), typed('object')] })],
    ['additionalProperties: false', definition({ additionalProperties: false, additionalItems: true })],
    ['a schema of additionalProperties', definition({ additionalProperties: typed('string') })],
    ['dependencies', definition({ dependencies: { a: ['b', 'c'], d: typed('object') } })],
    ['any JSON', definition({ default: { a: [1, null] }, enum: ['x', 1, null], example: 'y' })],
    ['fractions', definition({ maximum: 1.5, minimum: 0 })],
    ['lists wrapped in messages', review({ a: ['x', 'y'], b: [] })],
  ])('%s: encoded and decoded again', (_name, object) => {
    expect(encoding.decode(encoding.encode(object)).value).toMatchObject(object);
  });

  it('the wire form of a list wrapped in a message', () => {
    const extra = message([1, 'a'], [2, message([1, 'x'], [1, 'y'])]);
    const user = message([1, ''], [2, ''], [4, extra]);
    expect(encoding.encode(review({ a: ['x', 'y'] })).includes(user)).toBe(true);
  });

  it('the wire form of JSONSchemaPropsOrBool', () => {
    const one = message([30, message([1, 0])]);
    expect(encoding.encode(definition({ additionalProperties: false })).includes(one)).toBe(true);
  });
});

describe('any protobuf input', () => {
  const kinds = [...catalog.kinds().values()]
    .filter(({ group, version, kind }) => catalog.kind(group, version, kind)!.fields.some(({ number }) => number > 0))
    .map(({ group, version, kind }) => ({ apiVersion: group === '' ? version : `${group}/${version}`, kind }));

  it('every kind of the catalog has its messages', () => {
    for (const { apiVersion, kind } of kinds) {
      expect(outcome(enveloped(apiVersion, kind, message()))).toEqual({ kind, apiVersion });
    }
  });

  it('any bytes decode to an object or throw DecodeError, and leave prototypes alone', () => {
    const tree = fc.letrec((tie) => ({
      message: fc
        .array(fc.tuple(fc.integer({ min: 1, max: 30 }), tie('content')), { maxLength: 6 })
        .map((fields) => message(...(fields as [number, Content][]))),
      content: fc.oneof(
        { maxDepth: 6 },
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        fc.constantFrom('', '__proto__', 'constructor', '{"a":1}', 'x'),
        fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
        tie('message'),
      ),
    }));
    const before = Object.getOwnPropertyNames(Object.prototype).length;
    fc.assert(
      fc.property(fc.constantFrom(...kinds), tree.message, ({ apiVersion, kind }, raw) => {
        const read = outcome(enveloped(apiVersion, kind, raw));
        expect(typeof read === 'string' || (read as { kind: string }).kind === kind).toBe(true);
      }),
      { numRuns: 500 },
    );
    expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(before);
  });

  it('the deepest object can be encoded as JSON, and deeper ones are refused', () => {
    const revision = (depth: number) => {
      const data = Buffer.from(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
      return enveloped('apps/v1', 'ControllerRevision', message([2, message([1, data])]));
    };
    const definition = (depth: number) => {
      let schema = message([5, 'string']);
      for (let level = 0; level < depth; level++) schema = message([29, message([1, 'a'], [2, schema])]);
      const version = message([1, 'v1'], [4, message([1, schema])]);
      return enveloped('apiextensions.example.com/v1', 'CustomResourceDefinition', message([2, message([7, version])]));
    };
    for (const deep of [revision(490), definition(150)]) {
      const object = encoding.decode(deep).value;
      expect(decodeJson(encodeJson(object))).toEqual(object);
    }
    for (const deep of [revision(600), revision(100_000), definition(250), definition(5000)]) {
      expect(outcome(deep)).toBe('exceeded max depth');
    }
  });

  it('an encoded object with a byte removed or replaced decodes or throws DecodeError', () => {
    const whole = pod([1, message([1, 'a'], [11, message([1, 'k'], [2, 'v'])])], [2, message([2, message([1, 'c'])])]);
    for (let at = 0; at < whole.length; at++) {
      outcome(whole.subarray(0, at));
      for (const byte of [0, 0x7f, 0x80, 0xff]) {
        const changed = Buffer.from(whole);
        changed[at] = byte;
        outcome(changed);
      }
    }
  });
});

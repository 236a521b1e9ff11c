import { fillBytes, type Family, type HostileRequest } from '../attack.js';
import { beyondValues, filling, gzipped, post, type MediaType } from '../requests.js';
import { namespace } from '../templates.js';

const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
const pods = `/api/v1/namespaces/${namespace}/pods`;
const jsonMap = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"body"},"data":';
const yamlMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: body}\ndata:\n';
const repeated = (text: string, bytes = fillBytes) => text.repeat(Math.floor(bytes / text.length));
const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`;

type Row = readonly [about: string, body: () => string | Buffer, type?: MediaType, path?: string];

const jsonRows: readonly Row[] = [
  ['equal JSON fields', () => filling(() => '"a":"b"', { head: `${jsonMap}{`, tail: '}}' })],
  ['different JSON fields', () => filling((n) => `"k${n}":"v"`, { head: `${jsonMap}{`, tail: '}}' })],
  ['JSON fields that are numbers', () => filling((n) => `"${n * 7919}":""`, { head: `${jsonMap}{`, tail: '}}' })],
  [
    'unknown JSON fields',
    () => filling((n) => `"u${n}":1`, { head: '{"apiVersion":"v1","kind":"Pod",', tail: '}' }),
    'json',
    pods,
  ],
  [
    'equal unknown JSON fields',
    () => filling(() => '"u":1', { head: '{"apiVersion":"v1","kind":"Pod",', tail: '}' }),
    'json',
    pods,
  ],
  [
    'unknown fields in many entries',
    () => filling((n) => `{"u":${n}}`, { head: '{"apiVersion":"v1","kind":"Pod","spec":{"containers":[', tail: ']}}' }),
    'json',
    pods,
  ],
  [
    'fields in another case',
    () =>
      filling((n) => `{"NAME":"c${n}","Image":"i"}`, {
        head: '{"apiVersion":"v1","kind":"Pod","spec":{"containers":[',
        tail: ']}}',
      }),
    'json',
    pods,
  ],
  ['deep JSON lists', () => `${jsonMap}${nested('[', ']', 1_500_000)}}`],
  ['deep JSON objects', () => `${jsonMap}${nested('{"a":', '}', 500_000)}}`],
  ['deep JSON within the bound, wide', () => filling(() => nested('[', ']', 900), { head: `${jsonMap}[`, tail: ']}' })],
  ['one long JSON string', () => `${jsonMap}{"a":"${repeated('x')}"}}`],
  ['escapes in JSON', () => `${jsonMap}{"a":"${repeated('\\u00e9')}"}}`],
  ['lone surrogates in JSON', () => `${jsonMap}{"a":"${repeated('\\ud800')}"}}`],
  ['wide characters in JSON', () => `${jsonMap}{"a":"${repeated('💩', fillBytes / 2 - 200)}"}}`],
  ['one long JSON number', () => `${jsonMap}{"a":${repeated('9')}}}`],
  ['one long JSON fraction', () => `${jsonMap}{"a":0.${repeated('9')}}}`],
  ['many large JSON integers', () => filling(() => '9007199254740993', { head: `${jsonMap}[`, tail: ']}' })],
  [
    'large JSON integers in fields',
    () => filling((n) => `"k${n}":9007199254740993`, { head: `${jsonMap}{`, tail: '}}' }),
  ],
  ['JSON without an end', () => `${jsonMap}${repeated('[')}`],
  ['a mistake at the end of JSON', () => filling(() => '"a"', { head: `${jsonMap}[`, tail: ',]}' })],
  ['spaces in JSON', () => `${jsonMap}${repeated(' ')}{}}`],
  ['lines in broken JSON', () => `${jsonMap}${repeated('\n')}x`],
  ['text behind JSON', () => `${jsonMap}{}}${repeated('{}')}`],
  [
    'bytes that are not UTF-8',
    () => Buffer.concat([Buffer.from(`${jsonMap}{"a":"`), Buffer.alloc(fillBytes, 0xff), Buffer.from('"}}')]),
  ],
  [
    'keys like prototypes',
    () =>
      filling((n) => `"${['constructor', 'toString', '__defineGetter__', 'hasOwnProperty'][n % 4]}":{}`, {
        head: `${jsonMap}{`,
        tail: '}}',
      }),
  ],
];

const yamlRows: readonly Row[] = [
  [
    'equal YAML keys, 240 KB',
    () => filling(() => '  a: b', { head: yamlMap, separator: '\n', bytes: 240_000 }),
    'yaml',
  ],
  ['equal YAML keys', () => filling(() => '  a: b', { head: yamlMap, separator: '\n' }), 'yaml'],
  ['equal YAML keys in a flow', () => filling(() => 'a: b', { head: `${yamlMap}  {`, tail: '}' }), 'yaml'],
  ['pairs of equal YAML keys', () => filling((n) => `  k${n >> 1}: b`, { head: yamlMap, separator: '\n' }), 'yaml'],
  ['different YAML keys', () => filling((n) => `  k${n}: v`, { head: yamlMap, separator: '\n' }), 'yaml'],
  ['YAML keys that are numbers', () => filling((n) => `  ${n * 7919}: v`, { head: yamlMap, separator: '\n' }), 'yaml'],
  ['JSON read as YAML', () => filling((n) => `"k${n}":"v"`, { head: `${jsonMap}{`, tail: '}}' }), 'yaml'],
  ['equal JSON fields read as YAML', () => filling(() => '"a":"v"', { head: `${jsonMap}{`, tail: '}}' }), 'yaml'],
  ['deep YAML flow', () => `${yamlMap}  a: ${nested('[', ']', 1_500_000)}`, 'yaml'],
  ['deep YAML maps in a flow', () => `${yamlMap}  a: ${nested('{a: ', '}', 500_000)}`, 'yaml'],
  ['deep YAML lists in a line', () => `a: \n${repeated('- ')}`, 'yaml'],
  ['deep YAML blocks', () => filling((n) => `${' '.repeat(n)}a:`, { separator: '\n' }), 'yaml'],
  ['aliases of aliases', () => aliases(9, 9), 'yaml'],
  [
    'aliases of one large list',
    () => filling(() => '*a', { head: `a: &a [${'x,'.repeat(100_000)}x]\nb: [`, tail: ']' }),
    'yaml',
  ],
  ['many YAML anchors', () => filling((n) => `- &a${n} x`, { head: 'a:\n', separator: '\n' }), 'yaml'],
  ['anchors and aliases', () => filling((n) => `- &a${n} x\n- *a${n}`, { head: 'a:\n', separator: '\n' }), 'yaml'],
  [
    'YAML merge keys',
    () => filling(() => '*a', { head: `a: &a {${'x1: 1, '.repeat(1_000)}x: 1}\nb: {<<: [`, tail: ']}' }),
    'yaml',
  ],
  [
    'YAML merge keys of merge keys',
    () => filling((n) => `a${n + 1}: &a${n + 1} {<<: *a${n}, k${n}: 1}`, { head: 'a0: &a0 {k: 1}\n', separator: '\n' }),
    'yaml',
  ],
  ['YAML tags', () => filling(() => '- !!str x', { head: 'a:\n', separator: '\n' }), 'yaml'],
  ['one long YAML scalar', () => `${yamlMap}  a: ${repeated('x')}`, 'yaml'],
  ['a YAML scalar of many lines', () => `${yamlMap}  a: ${repeated('x\n   ')}`, 'yaml'],
  ['a quoted YAML scalar of many lines', () => `${yamlMap}  a: "${repeated('x\n   ')}"`, 'yaml'],
  ['a folded YAML scalar', () => `${yamlMap}  a: >\n${repeated('   x\n')}`, 'yaml'],
  ['a literal YAML scalar of empty lines', () => `${yamlMap}  a: |\n   x\n${repeated('\n')}`, 'yaml'],
  ['escapes in YAML', () => `${yamlMap}  a: "${repeated('\\u00e9')}"`, 'yaml'],
  ['quotes in YAML', () => `${yamlMap}  a: '${repeated("''")}'`, 'yaml'],
  ['colons in YAML', () => `${yamlMap}  a: ${repeated('a:b')}`, 'yaml'],
  ['comments in YAML', () => `${yamlMap}${repeated('  # x\n')}`, 'yaml'],
  ['spaces in YAML', () => `${yamlMap}${repeated(' ')}`, 'yaml'],
  ['documents in YAML', () => repeated('--- {}\n'), 'yaml'],
  ['directives in YAML', () => `${repeated('%TAG ! tag:x,1:\n')}---\na: b`, 'yaml'],
  ['complex YAML keys', () => repeated('? [a]\n: b\n'), 'yaml'],
  [
    'YAML numbers of any kind',
    () => filling((n) => `  k${n}: 0x${n.toString(16)}`, { head: yamlMap, separator: '\n' }),
    'yaml',
  ],
  ['one long YAML number', () => `${yamlMap}  a: ${repeated('9')}`, 'yaml'],
  ['one long YAML number in base 16', () => `${yamlMap}  a: 0x${repeated('f')}`, 'yaml'],
  ['YAML dates', () => filling((n) => `  k${n}: 2026-01-01T00:00:00Z`, { head: yamlMap, separator: '\n' }), 'yaml'],
  [
    'a mistake at the end of YAML',
    () => filling((n) => `  k${n}: v`, { head: yamlMap, tail: '\n x', separator: '\n' }),
    'yaml',
  ],
];

const binaryRows: readonly Row[] = [
  ['empty protobuf messages', () => protobufPod(Buffer.from([0x12, 0]), 1_500_000), 'protobuf', pods],
  ['unknown protobuf fields', () => protobufPod(Buffer.from([0xf8, 0x07, 1]), 1_000_000), 'protobuf', pods],
  ['one protobuf field again and again', () => protobufPod(Buffer.from([0x1a, 1, 0x41]), 1_000_000), 'protobuf', pods],
  ['protobuf texts that are not UTF-8', () => protobufPod(Buffer.from([0x1a, 1, 0xff]), 1_000_000), 'protobuf', pods],
  ['protobuf groups', () => protobufPod(Buffer.from([0x0b]), 3_000_000), 'protobuf', pods],
  [
    'a protobuf envelope in many parts',
    () =>
      Buffer.concat(
        [Buffer.from([0x6b, 0x38, 0x73, 0]), Buffer.from([0x12, 0]).toString('latin1').repeat(1_500_000)].map((part) =>
          Buffer.from(part as string, 'latin1'),
        ),
      ),
    'protobuf',
    pods,
  ],
  [
    'CBOR list of nothing',
    () => cbor(Buffer.concat([Buffer.from([0x9f]), Buffer.alloc(3_000_000, 0xf6), Buffer.from([0xff])])),
    'cbor',
  ],
  ['deep CBOR lists', () => cbor(Buffer.alloc(3_000_000, 0x81)), 'cbor'],
  ['nested CBOR tags', () => cbor(Buffer.alloc(3_000_000, 0xc1)), 'cbor'],
  [
    'CBOR text in pieces',
    () => cbor(Buffer.concat([Buffer.from([0x7f]), Buffer.from('\x61x'.repeat(1_400_000)), Buffer.from([0xff])])),
    'cbor',
  ],
  [
    'a large CBOR integer',
    () => cbor(Buffer.concat([Buffer.from([0xc2, 0x5a, 0, 0x2d, 0xc6, 0xc0]), Buffer.alloc(3_000_000, 0xff)])),
    'cbor',
  ],
  [
    'CBOR keys',
    () =>
      cbor(
        Buffer.concat([
          Buffer.from([0xbf]),
          Buffer.from(
            filling((n) => `\x45${n.toString(36).padStart(5, '0')}\x40`, { separator: '', bytes: 3_000_000 }),
            'latin1',
          ),
          Buffer.from([0xff]),
        ]),
      ),
    'cbor',
  ],
  [
    'equal CBOR keys',
    () =>
      cbor(
        Buffer.concat([Buffer.from([0xbf]), Buffer.from('\x41a\x40'.repeat(1_000_000), 'latin1'), Buffer.from([0xff])]),
      ),
    'cbor',
  ],
];

/** A Pod in protobuf that repeats the same bytes as its message. */
function protobufPod(bytes: Buffer, count: number): Buffer {
  const raw = Buffer.concat([
    Buffer.from([0x0a, 3, 0x0a, 1, 0x62]),
    Buffer.alloc(Math.min(bytes.length * count, 3_000_000), bytes),
  ]);
  // Unknown { 1: TypeMeta { 1: "v1", 2: "Pod" }, 2: raw }, with the Pod { 1: metadata, 2: spec of the bytes } as raw.
  const spec = Buffer.concat([Buffer.from([0x12]), varint(raw.length), raw]);
  return Buffer.concat([
    Buffer.from([0x6b, 0x38, 0x73, 0, 0x0a, 9, 0x0a, 2]),
    Buffer.from('v1'),
    Buffer.from([0x12, 3]),
    Buffer.from('Pod'),
    Buffer.from([0x12]),
    varint(spec.length),
    spec,
  ]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 127) | 128);
  }
}

/** A ConfigMap with the data item. */
function cbor(data: Buffer): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
  return Buffer.concat([
    Buffer.from([0xd9, 0xd9, 0xf7, 0xa4]),
    ...['apiVersion', 'v1', 'kind', 'ConfigMap', 'metadata'].map(text),
    Buffer.from([0xa1]),
    ...['name', 'body', 'data'].map(text),
    data,
  ]);
}

function aliases(levels: number, times: number): string {
  const line = (level: number) => `l${level}: &l${level} [${`*l${level - 1},`.repeat(times)}*l${level - 1}]`;
  return ['l0: &l0 [x,x,x,x,x,x,x,x,x]', ...Array.from({ length: levels }, (_, level) => line(level + 1))].join('\n');
}

const zipped: readonly Row[] = [
  ['a gzip body that grows a thousandfold', () => gzipped(Buffer.alloc(500 * 1024 * 1024, 0x20)), 'json'],
  [
    'a gzip body of equal fields',
    () => gzipped(filling(() => '"a":"b"', { head: `${jsonMap}{`, tail: '}}', bytes: 50_000_000 })),
    'json',
  ],
];

/** Rows of a short run, by name: those that once took the longest, and one of each encoding. */
const shortRows = new Set([
  ...['equal JSON fields', 'unknown JSON fields', 'JSON fields that are numbers', 'many large JSON integers'],
  ...['equal YAML keys, 240 KB', 'different YAML keys', 'deep YAML flow', 'anchors and aliases', 'YAML merge keys'],
  ...['empty protobuf messages', 'CBOR text in pieces', 'a large CBOR integer', 'CBOR keys', 'one long JSON number'],
]);

/** Bodies that are costly to decode, in every encoding. */
export const bodiesFamily: Family = {
  name: 'bodies',
  *requests({ isShort, rng }) {
    for (const row of [...jsonRows, ...yamlRows, ...binaryRows]) {
      if (isShort && !shortRows.has(row[0])) continue;
      const modes = isShort ? ['Strict'] : ['Strict', 'Warn', 'Ignore'];
      const mode = modes[rng.below(modes.length)]!;
      yield requestOf(row, mode);
      if (!isShort) yield beyondValues(() => requestOf(row, mode));
    }
    if (isShort) return;
    for (const row of zipped)
      yield {
        ...requestOf(row, 'Strict'),
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      };
  },
};

function requestOf([about, body, type = 'json', path = configMaps]: Row, validation: string): HostileRequest {
  const query = `?fieldValidation=${validation}&dryRun=All`;
  return post(`${about} (${validation})`, path + query, body(), type, { as: 'user' });
}

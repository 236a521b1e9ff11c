import { fillBytes, type HostileAnswer } from '../attack.js';
import type { HostileReply } from '../hostile-webhook.js';
import { many } from '../requests.js';

export type Target = 'configmaps' | 'pods';

interface HostileReview {
  readonly name: string;
  readonly about: string;
  /** The resource of the written object. */
  readonly target: Target;
  readonly reply: HostileReply;
  /** Documented codes of the write. */
  readonly codes: readonly number[];
  readonly problemOf?: (answer: HostileAnswer) => string | undefined;
}

const failed = [500];
const refused = [400, 422, 500];

const reviewOf = (uid: string, fields: object, more: object = {}) =>
  JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    response: { uid, allowed: true, ...fields },
    ...more,
  });
const patchOf = (operations: unknown) => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(typeof operations === 'string' ? operations : JSON.stringify(operations)).toString('base64'),
});
const add = (path: string, value: unknown) => ({ op: 'add', path, value });
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

type Row = readonly [
  about: string,
  target: Target,
  codes: readonly number[],
  reply: HostileReply,
  problemOf?: HostileReview['problemOf'],
];

/** Reports an answer that contains a text. */
const without =
  (text: string): HostileReview['problemOf'] =>
  ({ code, bytes }) =>
    code < 400 && bytes.includes(text) ? `the object has ${text}` : undefined;

/** Answers and patches of webhooks; `size` is the part of the limits that they reach. */
export function hostileAnswers(size: number): readonly HostileReview[] {
  const count = (part: number) => Math.floor(part * size);
  const text = 'x'.repeat(count(2_000_000));
  const patched =
    (operations: unknown): HostileReply =>
    (uid) =>
      reviewOf(uid, patchOf(operations));
  const rows: readonly Row[] = [
    [
      '__proto__ as a key',
      'configmaps',
      refused,
      patched('[{"op":"add","path":"/data","value":{"__proto__":{"a":"b"}}}]'),
    ],
    ['a path through __proto__', 'configmaps', [201, ...refused], patched([add('/__proto__/polluted', 'yes')])],
    [
      'a path through constructor',
      'configmaps',
      [201, ...refused],
      patched([add('/constructor/prototype/polluted', 'yes')]),
    ],
    ['a large value', 'configmaps', [422], patched([add('/data/x', 'x'.repeat(1_100_000))])],
    ['a large annotation', 'configmaps', [422], patched([add('/metadata/annotations', { x: text })])],
    [
      'many values',
      'configmaps',
      [201],
      patched([add('/data', Object.fromEntries(many(count(45_000), (n) => [`k${n}`, 'v'])))]),
    ],
    ['a deep value', 'configmaps', refused, patched(`[{"op":"add","path":"/data/x","value":${nested(count(900))}}]`)],
    [
      'a value beyond the depth',
      'configmaps',
      failed,
      patched(`[{"op":"add","path":"/data/x","value":${nested(100_000)}}]`),
    ],
    ['many operations', 'configmaps', [201], patched(many(count(9_900), (n) => add(`/data/k${n % 100}`, 'v')))],
    ['too many operations', 'configmaps', failed, patched(many(40_000, () => ({ op: 'test' })))],
    [
      'many insertions at the start',
      'pods',
      [201, 422],
      patched([add('/spec/containers/0/args', []), ...many(count(9_000), () => add('/spec/containers/0/args/0', 'a'))]),
    ],
    [
      'many insertions of containers',
      'pods',
      [201, 422],
      patched(many(count(2_000), (n) => add('/spec/containers/0', { name: `c${n}`, image: 'i' }))),
    ],
    [
      'many equal containers',
      'pods',
      [422],
      patched(many(count(2_000), () => add('/spec/containers/0', { name: 'd', image: 'i' }))),
    ],
    ['a move into itself', 'configmaps', failed, patched([{ op: 'move', from: '/data', path: '/data/a' }])],
    [
      'moves to and fro',
      'configmaps',
      [201],
      patched(
        many(2 * count(4_900), (n) =>
          n % 2 === 0 ? { op: 'move', from: '/data', path: '/old' } : { op: 'move', from: '/old', path: '/data' },
        ),
      ),
    ],
    [
      'copies that double',
      'configmaps',
      failed,
      patched(many(40, (n) => ({ op: 'copy', from: '/data', path: `/data/c${n}` }))),
    ],
    [
      'tests of a large value',
      'configmaps',
      refused,
      patched([
        add('/data/x', 'x'.repeat(count(200_000))),
        ...many(9, () => ({ op: 'test', path: '/data/x', value: 'x'.repeat(count(200_000)) })),
        { op: 'test', path: '/data/x', value: 'y' },
      ]),
    ],
    ['a long path', 'configmaps', failed, patched([add('/a'.repeat(count(900_000)), 'v')])],
    [
      'a path of escapes',
      'configmaps',
      [...refused, 201],
      patched([add(`/data/${'~1~0'.repeat(count(400_000))}`, 'v')]),
    ],
    ['a patch that is no JSON', 'configmaps', failed, patched('[{"op":'.repeat(count(200_000)))],
    [
      'a patch that is not UTF-8',
      'configmaps',
      [...refused, 201],
      (uid) =>
        reviewOf(uid, { patchType: 'JSONPatch', patch: Buffer.from([0x5b, 0xff, 0xfe, 0x5d]).toString('base64') }),
    ],
    [
      'a patch that is no base64',
      'configmaps',
      [...refused, 201],
      (uid) => reviewOf(uid, { patchType: 'JSONPatch', patch: '!'.repeat(count(2_000_000)) }),
    ],
    ['bytes that are not UTF-8', 'configmaps', failed, () => Buffer.alloc(count(2_900_000), 0xff)],
    [
      'a body over the limit',
      'configmaps',
      failed,
      (uid) => reviewOf(uid, {}, { padding: 'x'.repeat(fillBytes + 10_000) }),
    ],
    [
      'a body of values',
      'configmaps',
      [201, ...failed],
      (uid) => reviewOf(uid, {}, { padding: many(count(700_000), () => 0) }),
    ],
    [
      'a body of keys',
      'configmaps',
      [201, ...failed],
      (uid) => reviewOf(uid, {}, { padding: Object.fromEntries(many(count(200_000), (n) => [`k${n}`, 0])) }),
    ],
    ['a deep body', 'configmaps', failed, () => nested(count(1_400_000))],
    ['many warnings', 'configmaps', [201], (uid) => reviewOf(uid, { warnings: many(count(45_000), (n) => `w${n}`) })],
    [
      'a long warning',
      'configmaps',
      [201],
      (uid) => reviewOf(uid, { warnings: ['\u00e4\r\n"\\'.repeat(count(200_000))] }),
    ],
    [
      'many audit annotations',
      'configmaps',
      [201],
      (uid) => reviewOf(uid, { auditAnnotations: Object.fromEntries(many(count(45_000), (n) => [`k${n}`, 'v'])) }),
    ],
    [
      'a long denial',
      'configmaps',
      [403],
      (uid) =>
        reviewOf(uid, {
          allowed: false,
          status: {
            code: 403,
            reason: 'Forbidden',
            message: text,
            details: { causes: many(count(5_000), (n) => ({ field: `f${n}` })) },
          },
        }),
    ],
    [
      'another kind',
      'configmaps',
      failed,
      (uid) => JSON.stringify({ kind: 'Pod', apiVersion: 'v1', response: { uid, allowed: true } }),
    ],
    ['another uid', 'configmaps', failed, () => reviewOf('other', {})],
    ['another kind of the object', 'configmaps', refused, patched([add('/kind', 'Secret')])],
    ['a renamed object', 'configmaps', [201], patched([add('/metadata/name', 'renamed')])],
    ['another namespace', 'configmaps', [400], patched([add('/metadata/namespace', 'kube-system')])],
    [
      'another uid of the object',
      'configmaps',
      [201],
      patched([add('/metadata/uid', 'u-of-the-webhook')]),
      without('u-of-the-webhook'),
    ],
    [
      'other managedFields',
      'configmaps',
      [201, ...refused],
      patched([
        add(
          '/metadata/managedFields',
          many(count(5_000), (n) => ({
            manager: `m${n}`,
            operation: 'Apply',
            apiVersion: 'v1',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': { [`f:k${n}`]: {} } },
          })),
        ),
      ]),
    ],
    [
      'managedFields of a wrong type',
      'configmaps',
      [201, ...refused],
      patched([add('/metadata/managedFields', 'all')]),
    ],
    [
      'a deletionTimestamp',
      'configmaps',
      [201],
      patched([add('/metadata/deletionTimestamp', '2020-01-01T00:00:00Z')]),
      without('deletionTimestamp'),
    ],
    [
      'a status',
      'pods',
      [201],
      patched([add('/status', { phase: 'Running', podIP: '10.9.8.7' })]),
      without('10.9.8.7'),
    ],
    [
      'many owners',
      'configmaps',
      [201, 422],
      patched([
        add(
          '/metadata/ownerReferences',
          many(count(8_000), (n) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${n}`, uid: `${n}` })),
        ),
      ]),
    ],
    [
      'many finalizers',
      'configmaps',
      [201, 422],
      patched([
        add(
          '/metadata/finalizers',
          many(count(40_000), (n) => `example.com/f${n}`),
        ),
      ]),
    ],
    ['a removal of the metadata', 'configmaps', refused, patched([{ op: 'remove', path: '/metadata' }])],
    ['a list as the object', 'configmaps', refused, patched([{ op: 'replace', path: '', value: [] }])],
  ];
  return rows.map(([about, target, codes, reply, problemOf], index) => ({
    ...{ name: `w${index}`, about, target, codes, reply },
    ...(problemOf && { problemOf }),
  }));
}

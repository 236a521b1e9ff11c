import { fillBytes } from '../attack.js';
import { filling, many, valuesBound, type MediaType } from '../requests.js';
import { namespace } from '../templates.js';

export const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/patched';
export const pod = `/api/v1/namespaces/${namespace}/pods/patched`;
export const configMap = `/api/v1/namespaces/${namespace}/configmaps/patched`;
export const operationsMax = 10_000;

export const operations = (count: number, make: (index: number) => object) =>
  JSON.stringify(Array.from({ length: count }, (_, index) => make(index)));
const names = '/rules/0/resourceNames';
/** First adds a list of 400,000 strings, then an operation for each remaining value. */
const onLongList = (
  make: (index: number) => object,
  items = Math.min(400_000, Math.max(1_000, valuesBound() - 50_000)),
) => {
  const rest = operations(operationsMax - 1, make).slice(1);
  return `[{"op":"add","path":"${names}","value":[${many(items, () => '"a"').join()}]},${rest}`;
};
const nested = (open: string, inside: string, close: string, depth: number) =>
  open.repeat(depth) + inside + close.repeat(depth);

type Row = readonly [about: string, path: string, type: MediaType, body: () => string];

export const jsonPatches: readonly Row[] = [
  ['splices at the front', role, 'jsonPatch', () => onLongList(() => ({ op: 'add', path: `${names}/0`, value: 'x' }))],
  ['removals at the front', role, 'jsonPatch', () => onLongList(() => ({ op: 'remove', path: `${names}/0` }))],
  [
    'moves from the front to the end',
    role,
    'jsonPatch',
    () => onLongList(() => ({ op: 'move', from: `${names}/0`, path: `${names}/-` })),
  ],
  [
    'moves from the end to the front',
    role,
    'jsonPatch',
    () => onLongList((n) => ({ op: 'move', from: `${names}/${90_000 - n}`, path: `${names}/0` })),
  ],
  [
    'copies at the front',
    role,
    'jsonPatch',
    () => onLongList(() => ({ op: 'copy', from: `${names}/1`, path: `${names}/0` })),
  ],
  [
    'copies of all',
    role,
    'jsonPatch',
    () => onLongList((n) => ({ op: 'copy', from: '/rules', path: `/metadata/annotations/a${n}` }), 200_000),
  ],
  [
    'copies that double',
    role,
    'jsonPatch',
    () => operations(operationsMax, () => ({ op: 'copy', from: '/rules', path: '/rules/-' })),
  ],
  [
    'copies of the whole into itself',
    role,
    'jsonPatch',
    () => operations(operationsMax, () => ({ op: 'copy', from: '', path: '/metadata/x' })),
  ],
  [
    'tests of a long list',
    role,
    'jsonPatch',
    () =>
      `[{"op":"add","path":"${names}","value":[${many(100_000, () => '"a"').join()}]},${filling(() => `{"op":"test","path":"${names}","value":[${many(30_000, () => '"a"').join()}]}`, { bytes: 2_000_000 })}]`,
  ],
  [
    'tests of the whole',
    role,
    'jsonPatch',
    () => operations(operationsMax, () => ({ op: 'test', path: '', value: {} })),
  ],
  [
    'replacements of all',
    role,
    'jsonPatch',
    () => operations(operationsMax, (n) => ({ op: 'replace', path: '/rules', value: [{ verbs: [`v${n}`] }] })),
  ],
  [
    'many operations over the bound',
    role,
    'jsonPatch',
    () => filling(() => '{"op":"test","path":"","value":1}', { head: '[', tail: ']' }),
  ],
  [
    'deep pointers',
    role,
    'jsonPatch',
    () =>
      `[{"op":"add","path":"/metadata/x","value":${nested('{"a":', '1', '}', 140)}},${operations(operationsMax - 1, () => ({ op: 'add', path: `/metadata/x${'/a'.repeat(130)}/b`, value: 1 })).slice(1)}`,
  ],
  [
    'one long pointer',
    role,
    'jsonPatch',
    () => `[{"op":"add","path":"${'/a'.repeat(fillBytes / 2 - 100)}","value":1}]`,
  ],
  [
    'escapes in a pointer',
    role,
    'jsonPatch',
    () => `[{"op":"add","path":"/${'~1'.repeat(fillBytes / 2 - 100)}","value":1}]`,
  ],
  [
    'wide additions',
    configMap,
    'jsonPatch',
    () => operations(operationsMax, (n) => ({ op: 'add', path: `/data/k${n}`, value: 'v'.repeat(150) })),
  ],
  [
    'a number as an index',
    role,
    'jsonPatch',
    () => operations(operationsMax, () => ({ op: 'add', path: `/rules/${'9'.repeat(200)}`, value: 1 })),
  ],
];

export const mergePatches: readonly Row[] = [
  ['different keys', configMap, 'mergePatch', () => filling((n) => `"k${n}":"v"`, { head: '{"data":{', tail: '}}' })],
  ['removals', configMap, 'mergePatch', () => filling((n) => `"k${n}":null`, { head: '{"data":{', tail: '}}' })],
  ['equal keys', configMap, 'mergePatch', () => filling(() => '"k":"v"', { head: '{"data":{', tail: '}}' })],
  ['unknown fields', configMap, 'mergePatch', () => filling((n) => `"u${n}":1`, { head: '{', tail: '}' })],
  [
    'deep objects',
    configMap,
    'mergePatch',
    () => filling(() => '"a":1', { head: `{"metadata":${'{"a":'.repeat(900)}{`, tail: `}${'}'.repeat(900)}}` }),
  ],
  ['deeper objects than may be', configMap, 'mergePatch', () => nested('{"a":', '1', '}', 500_000)],
  [
    'a long list',
    pod,
    'mergePatch',
    () => filling((n) => `{"key":"k${n}"}`, { head: '{"spec":{"tolerations":[', tail: ']}}' }),
  ],
];

export const strategicPatches: readonly Row[] = [
  [
    'containers by name',
    pod,
    'strategicPatch',
    () => filling((n) => `{"name":"c${n}"}`, { head: '{"spec":{"containers":[', tail: ']}}' }),
  ],
  [
    'containers of one name',
    pod,
    'strategicPatch',
    () => filling(() => '{"name":"c"}', { head: '{"spec":{"containers":[', tail: ']}}' }),
  ],
  [
    'containers without a name',
    pod,
    'strategicPatch',
    () => filling(() => '{}', { head: '{"spec":{"containers":[', tail: ']}}' }),
  ],
  [
    'removals of containers',
    pod,
    'strategicPatch',
    () => filling((n) => `{"name":"c${n}","$patch":"delete"}`, { head: '{"spec":{"containers":[', tail: ']}}' }),
  ],
  [
    'replacement directives',
    pod,
    'strategicPatch',
    () => filling(() => '{"$patch":"replace"}', { head: '{"spec":{"containers":[', tail: ']}}' }),
  ],
  [
    'an order of many',
    pod,
    'strategicPatch',
    () =>
      filling((n) => `{"name":"c${n}"}`, {
        head: '{"spec":{"$setElementOrder/containers":[',
        tail: '],"containers":[{"name":"c1","image":"i"}]}}',
      }),
  ],
  [
    'an order of equal ones',
    pod,
    'strategicPatch',
    () =>
      filling(() => '{"name":"c"}', {
        head: '{"spec":{"$setElementOrder/containers":[',
        tail: '],"containers":[{"name":"c","image":"i"}]}}',
      }),
  ],
  [
    'an order and its entries',
    pod,
    'strategicPatch',
    () => {
      const all = many(Math.min(60_000, Math.floor(valuesBound() / 6)), (n) => `{"name":"c${n}"}`);
      return `{"spec":{"$setElementOrder/containers":[${all.join()}],"containers":[${all.reverse().join()}]}}`;
    },
  ],
  [
    'environment by name',
    pod,
    'strategicPatch',
    () => filling((n) => `{"name":"e${n}"}`, { head: '{"spec":{"containers":[{"name":"main","env":[', tail: ']}]}}' }),
  ],
  [
    'finalizers as a set',
    pod,
    'strategicPatch',
    () => filling((n) => `"a/${n}"`, { head: '{"metadata":{"finalizers":[', tail: ']}}' }),
  ],
  [
    'removals from a set',
    pod,
    'strategicPatch',
    () => filling((n) => `"a/${n}"`, { head: '{"metadata":{"$deleteFromPrimitiveList/finalizers":[', tail: ']}}' }),
  ],
  [
    'an order of finalizers',
    pod,
    'strategicPatch',
    () =>
      filling((n) => `"a/${n}"`, {
        head: '{"metadata":{"$setElementOrder/finalizers":[',
        tail: '],"finalizers":["a/1"]}}',
      }),
  ],
  [
    'kept keys',
    pod,
    'strategicPatch',
    () => filling((n) => `"k${n}"`, { head: '{"spec":{"volumes":[{"name":"v","$retainKeys":[', tail: ']}]}}' }),
  ],
  [
    'directives without a field',
    pod,
    'strategicPatch',
    () => filling((n) => `"$setElementOrder/f${n}":[]`, { head: '{"spec":{', tail: '}}' }),
  ],
  [
    'ports by number',
    pod,
    'strategicPatch',
    () =>
      filling((n) => `{"containerPort":${n + 1},"protocol":"TCP"}`, {
        head: '{"spec":{"containers":[{"name":"main","ports":[',
        tail: ']}]}}',
      }),
  ],
  [
    'owners by uid',
    pod,
    'strategicPatch',
    () => filling((n) => `{"uid":"u${n}"}`, { head: '{"metadata":{"ownerReferences":[', tail: ']}}' }),
  ],
  [
    'labels',
    pod,
    'strategicPatch',
    () => filling((n) => `"k${n}":"v"`, { head: '{"metadata":{"labels":{', tail: '}}}' }),
  ],
];

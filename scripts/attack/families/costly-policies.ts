import type { HostileAnswer } from '../attack.js';
import type { Target } from './webhook-answers.js';

interface HostilePolicy {
  readonly name: string;
  readonly kind: 'validating' | 'mutating';
  readonly spec: object;
  /** Documented codes of the write. */
  readonly codes: readonly number[];
  readonly target?: Target;
  readonly problemOf?: (answer: HostileAnswer) => string | undefined;
}

/** Entries whose keys and values are together as large as an object may be. */
export function largeData(bytes: number): Readonly<Record<string, string>> {
  const count = Math.min(9_000, Math.floor(bytes / 110));
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`key-${n}`, `${'value '.repeat(15)}${n}`]));
}

const values = 'object.data.map(k, object.data[k])';
/** The object is admitted, or the policy fails: out of budget, or with an error. */
const either = [201, 422];

/** Policies for large objects; `size` is the part of the limits that they reach. */
export function hostilePolicies(size: number): readonly HostilePolicy[] {
  const rules: Readonly<Record<string, string>> = {
    pairs: 'object.data.all(k, object.data.exists(j, j == k))',
    joined: `${values}.join(',').size() > 0`,
    matched: `!${values}.join(',').matches('(a|b|value )*[0-9]+$')`,
    found: `object.data.all(k, object.data[k].find('v.*e') != '')`,
    replaced: `${values}.join('').replace('value', 'vvvvvvvvvvvv').size() > 0`,
    split: `${values}.join(' ').split(' ').size() > 0`,
    sorted: `${values}.isSorted() || true`,
    indexed: `${values}.indexOf('none') == -1 && ${values}.lastIndexOf('none') == -1`,
    sets: `sets.contains(${values}, ${values})`,
    lists: `${Array.from({ length: 20 }, () => values).join(' + ')} != []`,
    equal: 'object == object && [object, object] == [object, object]',
    formatted: `'%s %s %s'.format([object, object, object]).size() > 0`,
    doubled: `object.data.all(k, (object.data[k] + object.data[k] + object.data[k]).size() > 0)`,
    quantities: 'object.data.all(k, !isQuantity(object.data[k]))',
    addresses: 'object.data.all(k, !isIP(object.data[k]) && !isURL(object.data[k]) && !isSemver(object.data[k]))',
    authorized: `object.data.all(k, authorizer.group('').resource('pods').name(k).check('get').allowed())`,
    compared: 'oldObject == null || object.data == oldObject.data',
  };
  const validating = Object.entries(rules).map(([name, expression]): HostilePolicy => ({
    ...{ name, kind: 'validating', codes: either },
    spec: { validations: [{ expression }] },
  }));
  const apply = (expression: string) => ({
    reinvocationPolicy: 'IfNeeded',
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
  });
  const jsonPatch = (expression: string) => ({
    reinvocationPolicy: 'IfNeeded',
    mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
  });
  const without =
    (text: string) =>
    ({ code, bytes }: HostileAnswer) =>
      code < 400 && bytes.includes(text) ? `the object has ${text}` : undefined;
  const operations = Math.floor(9_000 * size);
  const others: readonly HostilePolicy[] = [
    {
      name: 'long-message',
      kind: 'validating',
      spec: { validations: [{ expression: 'false', messageExpression: `${values}.join(',')` }] },
      codes: [422],
    },
    {
      name: 'long-annotation',
      kind: 'validating',
      spec: { auditAnnotations: [{ key: 'k', valueExpression: `${values}.join(',')` }] },
      codes: either,
    },
    {
      name: 'many-variables',
      kind: 'validating',
      spec: {
        variables: Array.from({ length: 200 }, (_, n) => ({
          name: `v${n}`,
          expression: n === 0 ? values : `variables.v${n - 1} + ['x']`,
        })),
        validations: [{ expression: 'variables.v199.size() > 0' }],
      },
      codes: either,
    },
    {
      name: 'copied-data',
      kind: 'mutating',
      spec: jsonPatch("[JSONPatch{op: 'copy', from: '/data', path: '/metadata/annotations'}]"),
      codes: either,
    },
    {
      name: 'patch-of-each',
      kind: 'mutating',
      spec: jsonPatch("object.data.map(k, JSONPatch{op: 'replace', path: '/data/' + k, value: 'v'})"),
      codes: [...either, 500],
    },
    {
      name: 'many-patches',
      kind: 'mutating',
      spec: jsonPatch(`lists.range(${operations}).map(n, JSONPatch{op: 'add', path: '/data/x', value: string(n)})`),
      codes: [...either, 500],
    },
    {
      name: 'applied-data',
      kind: 'mutating',
      spec: apply("Object{data: object.data.transformMapEntry(k, v, {'x' + k: v})}"),
      codes: either,
    },
    {
      name: 'finalizers',
      kind: 'mutating',
      spec: apply("Object{metadata: Object.metadata{finalizers: ['example.com/forever']}}"),
      codes: either,
    },
    {
      name: 'renamed',
      kind: 'mutating',
      spec: apply("Object{metadata: Object.metadata{name: 'renamed', namespace: 'kube-system'}}"),
      codes: [400, 422, 500],
    },
    {
      name: 'other-uid',
      kind: 'mutating',
      spec: jsonPatch("[JSONPatch{op: 'add', path: '/metadata/uid', value: 'u-of-the-policy'}]"),
      codes: either,
      problemOf: without('u-of-the-policy'),
    },
    {
      name: 'deleted',
      kind: 'mutating',
      spec: jsonPatch("[JSONPatch{op: 'add', path: '/metadata/deletionTimestamp', value: '2020-01-01T00:00:00Z'}]"),
      codes: either,
      problemOf: without('deletionTimestamp'),
    },
    {
      name: 'containers',
      kind: 'mutating',
      target: 'pods',
      spec: apply(
        `Object{spec: Object.spec{containers: lists.range(${Math.floor(2_000 * size)}).map(n, Object.spec.containers{name: 'c' + string(n), image: 'i'})}}`,
      ),
      codes: either,
    },
    {
      name: 'running',
      kind: 'mutating',
      target: 'pods',
      spec: jsonPatch("[JSONPatch{op: 'add', path: '/status', value: {'phase': 'Running', 'podIP': '10.9.8.7'}}]"),
      codes: either,
      problemOf: without('10.9.8.7'),
    },
  ];
  return [...validating, ...others];
}

import { cpuMsOf } from '../../test/harness/cpu-time.js';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { ApiError } from '../machinery/api-error.js';
import { catalog } from '../../test/harness/managed-objects.js';
import { strategicMergePatch } from './strategic-merge.js';

const podSpec = catalog.struct('core.v1.PodSpec');
const meta = catalog.struct('meta.v1.ObjectMeta');
const deploymentSpec = catalog.struct('apps.v1.DeploymentSpec');

const names = (...given: string[]) => ({ containers: given.map((name) => ({ name })) });

describe('a strategic merge patch', () => {
  it.each<[string, JsonObject, JsonValue, JsonObject]>([
    ['to nothing', names('a'), {}, names('a')],
    ['that is null', names('a'), null, names('a')],
    [
      'sets and removes fields',
      { nodeName: 'x', hostNetwork: true },
      { nodeName: 'y', hostNetwork: null },
      { nodeName: 'y' },
    ],
    [
      'merges maps',
      { nodeSelector: { a: '1', b: '1' } },
      { nodeSelector: { b: '2', c: '2', a: null } },
      { nodeSelector: { b: '2', c: '2' } },
    ],
    [
      'drops nulls from new values',
      {},
      { nodeSelector: { a: null, b: '1' }, volumes: [{ name: 'v', emptyDir: null }] },
      { nodeSelector: { b: '1' }, volumes: [{ name: 'v' }] },
    ],
    [
      'replaces atomic lists',
      { tolerations: [{ key: 'a' }] },
      { tolerations: [{ key: 'b' }] },
      { tolerations: [{ key: 'b' }] },
    ],
    [
      'merges items by key',
      { containers: [{ name: 'a', image: '1' }, { name: 'b' }] },
      { containers: [{ name: 'b', image: '2' }] },
      {
        containers: [
          { name: 'a', image: '1' },
          { name: 'b', image: '2' },
        ],
      },
    ],
    ['prepends new items', names('a'), names('b'), names('b', 'a')],
    ['keeps the order of the patch', names('a', 'b', 'c'), names('c', 'a'), names('b', 'c', 'a')],
    [
      'merges lists inside items',
      { containers: [{ name: 'a', env: [{ name: 'X', value: '1' }] }] },
      { containers: [{ name: 'a', env: [{ name: 'Y', value: '2' }] }] },
      {
        containers: [
          {
            name: 'a',
            env: [
              { name: 'Y', value: '2' },
              { name: 'X', value: '1' },
            ],
          },
        ],
      },
    ],
    [
      'merges items by a numeric key',
      { containers: [{ name: 'a', ports: [{ containerPort: 80 }] }] },
      { containers: [{ name: 'a', ports: [{ containerPort: 80, name: 'http' }] }] },
      { containers: [{ name: 'a', ports: [{ containerPort: 80, name: 'http' }] }] },
    ],
    ['deletes items', names('a', 'b'), { containers: [{ $patch: 'delete', name: 'a' }] }, names('b')],
    ['ignores deletion of absent items', names('a'), { containers: [{ $patch: 'delete', name: 'z' }] }, names('a')],
    ['replaces a list of items', names('a', 'b'), { containers: [{ $patch: 'replace' }, { name: 'c' }] }, names('c')],
    [
      'replaces a map',
      { nodeSelector: { a: '1' } },
      { nodeSelector: { $patch: 'replace', b: '2' } },
      { nodeSelector: { b: '2' } },
    ],
    ['empties a map', { nodeSelector: { a: '1' } }, { nodeSelector: { $patch: 'delete' } }, { nodeSelector: {} }],
    [
      'ignores deletion of an absent map',
      {},
      { nodeSelector: { $patch: 'delete' }, containers: [{ $patch: 'delete', name: 'a' }] },
      { containers: [] },
    ],
    [
      'orders items by $setElementOrder',
      names('a', 'b', 'c'),
      { '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }] },
      names('b', 'c', 'a'),
    ],
    [
      'orders and changes items',
      names('a', 'b'),
      {
        '$setElementOrder/containers': [{ name: 'b' }, { name: 'c' }, { name: 'a' }],
        containers: [{ name: 'c' }, { name: 'a', image: '1' }],
      },
      { containers: [{ name: 'b' }, { name: 'c' }, { name: 'a', image: '1' }] },
    ],
    [
      'orders the remaining items',
      names('a', 'b', 'c'),
      { '$setElementOrder/containers': [{ name: 'c' }, { name: 'b' }], containers: [{ $patch: 'delete', name: 'a' }] },
      names('c', 'b'),
    ],
    [
      'puts new items at the indexes of deleted ones, after items of others',
      names('a', 'b', 'x'),
      {
        '$setElementOrder/containers': [{ name: 'b' }, { name: 'c' }],
        containers: [{ name: 'c' }, { $patch: 'delete', name: 'a' }],
      },
      names('b', 'x', 'c'),
    ],
    [
      'keeps the fields of $retainKeys',
      { volumes: [{ name: 'v', emptyDir: {} }] },
      { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] },
      { volumes: [{ name: 'v', hostPath: { path: '/x' } }] },
    ],
    [
      'replaces a value of another type',
      { nodeSelector: { a: '1' } },
      { nodeSelector: null, containers: names('a').containers },
      names('a'),
    ],
  ])('%s', (_, target, patch, want) => {
    const before = JSON.stringify([target, patch]);
    expect(strategicMergePatch(target, patch, podSpec)).toEqual(want);
    expect(JSON.stringify([target, patch])).toBe(before);
  });

  it.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['merges', { finalizers: ['a', 'b'] }, { finalizers: ['c', 'b'] }, { finalizers: ['c', 'a', 'b'] }],
    [
      'deletes from',
      { finalizers: ['a', 'b', 'a'] },
      { '$deleteFromPrimitiveList/finalizers': ['a', 'z'] },
      { finalizers: ['b'] },
    ],
    ['deletes from absent', {}, { '$deleteFromPrimitiveList/finalizers': ['a'] }, {}],
    [
      'ignores deletion from values that are not lists:',
      { finalizers: ['a'] },
      { '$deleteFromPrimitiveList/finalizers': 'x' },
      { finalizers: ['a'] },
    ],
    [
      'orders',
      { finalizers: ['a', 'b', 'c'] },
      { '$setElementOrder/finalizers': ['c', 'b', 'a'] },
      { finalizers: ['c', 'b', 'a'] },
    ],
    [
      'deletes, adds and orders',
      { finalizers: ['a', 'b'] },
      { '$deleteFromPrimitiveList/finalizers': ['a'], '$setElementOrder/finalizers': ['c', 'b'], finalizers: ['c'] },
      { finalizers: ['c', 'b'] },
    ],
  ])('%s lists of strings', (_, target, patch, want) => expect(strategicMergePatch(target, patch, meta)).toEqual(want));

  it('$retainKeys removes all other fields', () => {
    const target = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } };
    const patch = { strategy: { $retainKeys: ['type'], type: 'Recreate' } };
    expect(strategicMergePatch(target, patch, deploymentSpec)).toEqual({ strategy: { type: 'Recreate' } });
  });

  it('shares unpatched values with the target', () => {
    const target = { ...names('a'), nodeSelector: { a: '1' } };
    expect(strategicMergePatch(target, { nodeName: 'x' }, podSpec)['containers']).toBe(target.containers);
  });

  it('sets a field of any name', () => {
    const patch = JSON.parse('{"nodeSelector":{"__proto__":"x","constructor":"y"}}') as JsonObject;
    const { nodeSelector } = strategicMergePatch({ nodeSelector: { a: '1' } }, patch, podSpec);
    expect(Object.keys(nodeSelector as JsonObject)).toEqual(['a', '__proto__', 'constructor']);
    expect(Object.getPrototypeOf(nodeSelector)).toBe(Object.prototype);
  });

  it('merges long lists in bounded time', () => {
    const many = (from: number) => names(...Array.from({ length: 50_000 }, (_, n) => `c${from + n}`));
    const merged = strategicMergePatch(many(0), many(25_000), podSpec);
    expect(merged['containers']).toHaveLength(75_000);
  });
});

describe('an invalid strategic merge patch', () => {
  const refusal = (target: JsonObject, patch: JsonValue) => {
    try {
      return strategicMergePatch(target, patch, podSpec);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return `${error.code} ${error.message}`;
    }
  };
  it.each<[JsonValue, string]>([
    [[], '400 json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['x', '400 json: cannot unmarshal string into Go value of type map[string]interface {}'],
    [{ $retainKeys: 'x' }, '400 invalid patch format of retainKeys'],
    [{ $retainKeys: ['a'], b: 1 }, '400 invalid patch format of retainKeys'],
    [{ $deleteFromPrimitiveList: [] }, '400 invalid patch format of primitive list'],
    [{ $setElementOrder: [] }, '400 invalid patch format of setElementOrder list'],
    [{ containers: [{ name: 'c', $patch: 'x' }] }, '422 unknown patch type: x in map: map[$patch:x name:c]'],
    [{ containers: [{ name: 'c', $patch: 'merge' }] }, '422 merging lists cannot yet be specified in the patch'],
    [{ nodeSelector: { $patch: 'merge' } }, '422 unknown patch type: merge in map: map[$patch:merge]'],
    [{ containers: [{ image: 'x' }] }, '422 map: map[image:x] does not contain declared merge key: name'],
    [{ containers: [{ $patch: 'delete' }] }, '422 map: map[$patch:delete] does not contain declared merge key: name'],
    [{ containers: [[]] }, '422 lists of lists are not supported'],
    [{ containers: ['x'] }, '422 list element types are not identical: [[map[name:a]] [x]]'],
    [{ '$setElementOrder/containers': 'x' }, '422 expected a []interface {}, but received a string'],
    [{ '$setElementOrder/zz': [], zz: [] }, '422 unable to find api field in struct PodSpec for the json field "zz"'],
    [
      { '$setElementOrder/containers': [{ name: 'zz' }], containers: [{ name: 'c', image: 'y' }] },
      "422 The order in patch list:\n[map[image:y name:c]]\n doesn't match $setElementOrder list:\n[map[name:zz]]\n",
    ],
    [
      { containers: {} },
      '422  "" is invalid: patch: Invalid value: "map[containers:map[]]": cannot restore slice from map',
    ],
    [
      { nodeSelector: 2n ** 53n + 1n },
      '422  "" is invalid: patch: Invalid value: "map[nodeSelector:9007199254740993]": cannot restore map from int64',
    ],
    [
      { nodeSelector: [] },
      '422  "" is invalid: patch: Invalid value: "map[nodeSelector:[]]": cannot restore map from slice',
    ],
  ])('%p is refused', (patch, want) => expect(refusal({ ...names('a'), nodeSelector: { a: '1' } }, patch)).toBe(want));

  it('the error names the field', () => {
    const patch = { containers: [{ name: 'a', env: [{ value: '1' }] }] };
    const target = { containers: [{ name: 'a', env: [{ name: 'X' }] }] };
    expect(() => strategicMergePatch(target, patch, podSpec)).toThrow(
      expect.objectContaining({ details: { causes: [expect.objectContaining({ field: 'containers.env' })] } }) as Error,
    );
  });
});

describe('random strategic merge patches', () => {
  const name = fc.constantFrom('a', 'b', 'c', '__proto__');
  const value = fc.oneof(fc.constantFrom('1', '2'), fc.constant(null));
  const directive = fc.constantFrom({}, {}, {}, { $patch: 'delete' }, { $patch: 'replace' }, { $patch: 'zz' });
  const container = fc
    .tuple(fc.record({ name, image: value }, { requiredKeys: [] }), directive)
    .map(([item, words]) => ({ ...item, ...words }));
  const patch = fc
    .tuple(
      fc.record({ containers: fc.array(container), nodeSelector: fc.dictionary(name, value) }, { requiredKeys: [] }),
      directive,
      fc.constantFrom(
        {},
        { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] },
        { $retainKeys: ['containers'] },
      ),
    )
    .map(([given, ...words]) => Object.assign({}, given, ...words) as JsonObject);
  const target = fc.record({
    containers: fc.uniqueArray(fc.record({ name, image: fc.constant('0') }), { selector: (item) => item.name }),
    nodeSelector: fc.dictionary(name, fc.constant('0')),
  }) as fc.Arbitrary<JsonObject>;

  it('are applied or refused, and do not change their arguments', () => {
    fc.assert(
      fc.property(target, patch, (given, change) => {
        const before = JSON.stringify([given, change]);
        try {
          strategicMergePatch(given, change, podSpec);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
        }
        expect(JSON.stringify([given, change])).toBe(before);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
  });
});

describe('a strategic merge patch that repeats an item', () => {
  const pod = catalog.kind('', 'v1', 'Pod')!;
  const grow = (count: number) => ({
    spec: { containers: Array.from({ length: count }, (_, index) => ({ name: 'c', env: [{ name: `e${index}` }] })) },
  });
  const target = { spec: { containers: [{ name: 'c', env: [{ name: 'x' }] }] } };

  it('applies each occurrence', () => {
    const patched = strategicMergePatch(target, grow(10), pod) as typeof target;
    expect(patched.spec.containers[0]!.env).toHaveLength(11);
  });

  it('is refused (422) before it takes quadratic time', () => {
    const ms = cpuMsOf(() =>
      expect(() => strategicMergePatch(target, grow(20_000), pod)).toThrow(
        'too many items of the same merge key: name',
      ),
    );
    expect(ms).toBeLessThan(1000);
  });
});

import type { JsonObject } from '../../machinery/kube-object.js';
import { apply, force, ManagedObject, update, type ManagedWrite } from '../../../test/harness/managed-objects.js';

interface Scenario {
  readonly name: string;
  readonly given: readonly ManagedWrite[];
  /** The refusal of the last write. */
  readonly refusal?: string;
  readonly content: JsonObject;
  readonly owners: readonly string[];
}

const run = (object: ManagedObject, { given, refusal, content, owners }: Scenario) => {
  const refusals = given.map((write) => object.write(write));
  expect(refusals).toEqual([...given.slice(1).map(() => undefined), refusal]);
  expect(object.content()).toEqual(content);
  expect(object.owners()).toEqual(owners);
};

const data = (values: Record<string, string | null>): JsonObject => ({ data: values });
const put = (values: Record<string, string>) => (live: JsonObject) => ({ ...live, data: values });

describe('fields of a map', () => {
  const scenarios: Scenario[] = [
    {
      name: 'belong to their applier',
      given: [apply('m1', data({ a: '1', b: '1' }))],
      content: data({ a: '1', b: '1' }),
      owners: ['m1 Apply: .data.a .data.b'],
    },
    {
      name: 'are removed if their applier omits them',
      given: [apply('m1', data({ a: '1', b: '1' })), apply('m1', data({ a: '1' }))],
      content: data({ a: '1' }),
      owners: ['m1 Apply: .data.a'],
    },
    {
      name: 'are shared by appliers of equal values',
      given: [apply('m1', data({ a: '1' })), apply('m2', data({ a: '1', b: '2' }))],
      content: data({ a: '1', b: '2' }),
      owners: ['m1 Apply: .data.a', 'm2 Apply: .data.a .data.b'],
    },
    {
      name: 'stay if one of several owners omits them',
      given: [apply('m1', data({ a: '1', b: '1' })), apply('m2', data({ a: '1' })), apply('m1', data({ b: '1' }))],
      content: data({ a: '1', b: '1' }),
      owners: ['m2 Apply: .data.a', 'm1 Apply: .data.b'],
    },
    {
      name: 'conflict with an applier of another value (409)',
      given: [apply('m1', data({ a: '1' })), apply('m2', data({ a: '2' }))],
      refusal: 'Apply failed with 1 conflict: conflict with "m1": .data.a',
      content: data({ a: '1' }),
      owners: ['m1 Apply: .data.a'],
    },
    {
      name: 'name all owners in a conflict',
      given: [
        update('u', data({ a: '1', b: '1' })),
        apply('m1', data({ c: '1' })),
        apply('m2', data({ a: '2', b: '2', c: '2' })),
      ],
      refusal:
        'Apply failed with 3 conflicts: conflicts with "m1":\n- .data.c\nconflicts with "u" using v1:\n- .data.a\n- .data.b',
      content: data({ a: '1', b: '1', c: '1' }),
      owners: ['m1 Apply: .data.c', 'u Update: .data .data.a .data.b'],
    },
    {
      name: 'change their owner by a forced apply',
      given: [apply('m1', data({ a: '1', b: '1' })), force('m2', data({ a: '2' }))],
      content: data({ a: '2', b: '1' }),
      owners: ['m1 Apply: .data.b', 'm2 Apply: .data.a'],
    },
    {
      name: 'change their owner by an update',
      given: [apply('m1', data({ a: '1', b: '1' })), update('u', put({ a: '2', b: '1', c: '1' }))],
      content: data({ a: '2', b: '1', c: '1' }),
      owners: ['m1 Apply: .data.b', 'u Update: .data.a .data.c'],
    },
    {
      name: 'have no owner after an update removed them',
      given: [apply('m1', data({ a: '1', b: '1' })), update('u', put({ b: '1' }))],
      content: data({ b: '1' }),
      owners: ['m1 Apply: .data.b'],
    },
    {
      name: 'conflict with their applier after its own update (409)',
      given: [apply('m1', data({ a: '1' })), update('m1', put({ a: '2' })), apply('m1', data({ a: '3' }))],
      refusal: 'Apply failed with 1 conflict: conflict with "m1" using v1: .data.a',
      content: data({ a: '2' }),
      owners: ['m1 Update: .data.a'],
    },
    {
      name: 'of an updater are not removed by an applier that never had them',
      given: [update('u', data({ a: '1', b: '1' })), apply('m1', data({ a: '1' })), apply('m1', data({}))],
      content: data({ a: '1', b: '1' }),
      owners: ['m1 Apply: .data', 'u Update: .data .data.a .data.b'],
    },
    {
      name: 'may be null',
      given: [update('u', data({ a: '1' })), apply('m1', data({ n: null }))],
      content: data({ a: '1', n: null }),
      owners: ['m1 Apply: .data.n', 'u Update: .data .data.a'],
    },
  ];
  it.each(scenarios)('$name', (scenario) => run(ManagedObject.of('', 'v1', 'ConfigMap'), scenario));
});

describe('managedFields', () => {
  const managedFields = (entries: JsonObject[]) => (live: JsonObject) => ({
    ...live,
    metadata: { ...(live['metadata'] as JsonObject), managedFields: entries },
  });
  const scenarios: Scenario[] = [
    {
      name: 'are cleared by one empty entry',
      given: [update('u', data({ a: '1' })), update('v', managedFields([{}]))],
      content: data({ a: '1' }),
      owners: [],
    },
    {
      name: 'stay empty until an apply',
      given: [update('u', data({ a: '1' })), update('v', managedFields([{}])), update('w', put({ a: '2' }))],
      content: data({ a: '2' }),
      owners: [],
    },
    {
      name: 'own earlier fields as before-first-apply after that',
      given: [update('u', data({ a: '1' })), update('v', managedFields([{}])), apply('m', data({ b: '2' }))],
      content: data({ a: '1', b: '2' }),
      owners: ['m Apply: .data.b', 'before-first-apply Update: .data .data.a'],
    },
    {
      name: 'are cleared before the changes of the same request are tracked',
      given: [
        update('u', data({ a: '1' })),
        update('v', (live) => ({ ...managedFields([{}])(live), data: { a: '1', b: '1' } })),
      ],
      content: data({ a: '1', b: '1' }),
      owners: ['v Update: .data.b'],
    },
    {
      name: 'are kept if a client sends an empty list',
      given: [update('u', data({ a: '1' })), update('v', managedFields([]))],
      content: data({ a: '1' }),
      owners: ['u Update: .data .data.a'],
    },
    {
      name: 'are kept if a client sends an invalid list',
      given: [update('u', data({ a: '1' })), update('v', managedFields([{ manager: 'x', operation: 'Steal' }]))],
      content: data({ a: '1' }),
      owners: ['u Update: .data .data.a'],
    },
    {
      name: 'may be edited by an update',
      given: [
        update('u', data({ a: '1' })),
        update(
          'v',
          managedFields([
            {
              manager: 'x',
              operation: 'Apply',
              apiVersion: 'v1',
              fieldsType: 'FieldsV1',
              fieldsV1: { 'f:data': { 'f:a': {} } },
            },
          ]),
        ),
      ],
      content: data({ a: '1' }),
      owners: ['x Apply: .data.a'],
    },
    {
      name: 'keep an entry without a manager name',
      given: [update('', data({ a: '1' }))],
      content: data({ a: '1' }),
      owners: ['unknown Update: .data .data.a'],
    },
  ];
  it.each(scenarios)('$name', (scenario) => run(ManagedObject.of('', 'v1', 'ConfigMap'), scenario));

  it('a configuration with managedFields is refused', () => {
    const object = ManagedObject.of('', 'v1', 'ConfigMap');
    expect(object.write(apply('m', { metadata: { managedFields: [] } }))).toBe('metadata.managedFields must be nil');
  });

  it('times stay if nothing changes', () => {
    const object = ManagedObject.of('', 'v1', 'ConfigMap');
    object.write(apply('m', data({ a: '1' })));
    const { live } = object;
    object.write(apply('m', data({ a: '1' })));
    object.write(update('u', (same) => same));
    expect(object.live).toEqual(live);
  });

  it('updates of lists with duplicate items are not tracked', () => {
    const object = ManagedObject.of('', 'v1', 'ConfigMap');
    object.write(update('u', { metadata: { finalizers: [null] } }));
    expect(object.owners()).toEqual([]);
    expect(object.write(apply('m', data({ a: '1' })))).toBe(
      "failed to create typed patch object (/one; /v1, Kind=ConfigMap): associative list without keys has an element that's an explicit null",
    );
  });

  it('an applier that changes nothing has no time', () => {
    const object = ManagedObject.of('', 'v1', 'ConfigMap');
    object.write(update('u', data({ a: '1' })));
    object.write(apply('m', data({ a: '1' })));
    const [entry] = (object.live!['metadata'] as JsonObject)['managedFields'] as JsonObject[];
    expect(entry).toEqual({
      manager: 'm',
      operation: 'Apply',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:a': {} } },
    });
  });

  it('ten updaters are kept, and the oldest are joined', () => {
    const object = ManagedObject.of('', 'v1', 'ConfigMap');
    for (let n = 0; n < 13; n++) {
      object.write(update(`u${n}`, (live) => ({ ...live, data: { ...(live['data'] as JsonObject), [`k${n}`]: '1' } })));
    }
    const owners = object.owners();
    expect(owners).toHaveLength(10);
    expect(owners[0]).toBe('ancient-changes Update: .data .data.k0 .data.k1 .data.k2 .data.k3');
    expect(owners[9]).toBe('u12 Update: .data.k12');
  });
});

describe('lists of a Deployment', () => {
  const spec = (pod: JsonObject, rest: JsonObject = {}): JsonObject => ({ spec: { ...rest, template: { spec: pod } } });
  const containers = (...items: JsonObject[]) => spec({ containers: items });
  const at = '.spec.template.spec.containers';
  const scenarios: Scenario[] = [
    {
      name: 'have an owner for each item',
      given: [
        apply('m1', containers({ name: 'a', image: 'a:1' })),
        apply('m2', containers({ name: 'b', image: 'b:1' })),
        apply('m1', containers({ name: 'a', image: 'a:2' })),
      ],
      content: containers({ name: 'a', image: 'a:2' }, { name: 'b', image: 'b:1' }),
      owners: [
        `m2 Apply: ${at}[name="b"] ${at}[name="b"].image ${at}[name="b"].name`,
        `m1 Apply: ${at}[name="a"] ${at}[name="a"].image ${at}[name="a"].name`,
      ],
    },
    {
      name: 'lose an item that its owner omits',
      given: [
        apply('m1', containers({ name: 'a', image: 'a:1' })),
        apply('m2', containers({ name: 'b', image: 'b:1' })),
        apply('m1', spec({})),
      ],
      content: containers({ name: 'b', image: 'b:1' }),
      owners: [`m2 Apply: ${at}[name="b"] ${at}[name="b"].image ${at}[name="b"].name`, 'm1 Apply: .spec.template.spec'],
    },
    {
      name: 'identify items by the defaults of omitted keys',
      given: [
        apply('m1', containers({ name: 'a', ports: [{ containerPort: 80 }] })),
        apply('m2', containers({ name: 'a', ports: [{ containerPort: 80, protocol: 'UDP' }] })),
      ],
      content: containers({ name: 'a', ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }] }),
      owners: [
        `m1 Apply: ${at}[name="a"] ${at}[name="a"].name ${at}[name="a"].ports[containerPort=80,protocol="TCP"] ${at}[name="a"].ports[containerPort=80,protocol="TCP"].containerPort`,
        `m2 Apply: ${at}[name="a"] ${at}[name="a"].name ${at}[name="a"].ports[containerPort=80,protocol="UDP"] ${at}[name="a"].ports[containerPort=80,protocol="UDP"].containerPort ${at}[name="a"].ports[containerPort=80,protocol="UDP"].protocol`,
      ],
    },
    {
      name: 'are atomic by default',
      given: [
        apply('m1', spec({ tolerations: [{ key: 'a', operator: 'Exists' }] })),
        apply('m2', spec({ tolerations: [{ key: 'b', operator: 'Exists' }] })),
      ],
      refusal: 'Apply failed with 1 conflict: conflict with "m1": .spec.template.spec.tolerations',
      content: spec({ tolerations: [{ key: 'a', operator: 'Exists' }] }),
      owners: ['m1 Apply: .spec.template.spec.tolerations'],
    },
    {
      name: 'and atomic structs have one owner',
      given: [
        apply('m1', spec({}, { selector: { matchLabels: { a: 'b' } } })),
        apply('m2', spec({}, { selector: { matchLabels: { c: 'd' } } })),
      ],
      refusal: 'Apply failed with 1 conflict: conflict with "m1": .spec.selector',
      content: spec({}, { selector: { matchLabels: { a: 'b' } } }),
      owners: ['m1 Apply: .spec.selector .spec.template.spec'],
    },
    {
      name: 'of a created object belong to its creator, except fields that Go always writes',
      given: [
        update('u', {
          spec: {
            replicas: 1,
            selector: { matchLabels: {} },
            strategy: {},
            template: { metadata: {}, spec: { containers: [{ name: 'a', resources: {} }] } },
          },
          status: {},
        }),
      ],
      content: {
        spec: {
          replicas: 1,
          selector: { matchLabels: {} },
          strategy: {},
          template: { metadata: {}, spec: { containers: [{ name: 'a', resources: {} }] } },
        },
        status: {},
      },
      owners: [
        `u Update: .spec.replicas .spec.selector ${at}[name="a"] ${at}[name="a"].name ${at}[name="a"].resources`,
      ],
    },
  ];
  it.each(scenarios)('$name', (scenario) => run(ManagedObject.of('apps', 'v1', 'Deployment'), scenario));
});

describe('subresources', () => {
  const scenarios: Scenario[] = [
    {
      name: 'have owners of their own',
      given: [
        apply('m', { spec: { replicas: 1 } }),
        apply('m', { status: { replicas: 1 } }, 'status'),
        update('u', (live) => ({ ...live, status: { replicas: 2 } }), 'status'),
      ],
      content: { spec: { replicas: 1 }, status: { replicas: 2 } },
      owners: ['m Apply: .spec.replicas', 'u Update status: .status.replicas'],
    },
    {
      name: 'are not changed through the object itself',
      given: [apply('m', { spec: { replicas: 1 }, status: { replicas: 5 } })],
      content: { spec: { replicas: 1 }, status: { replicas: 5 } },
      owners: ['m Apply: .spec.replicas'],
    },
    {
      name: 'do not change managedFields of others',
      given: [
        apply('m', { spec: { replicas: 1 } }),
        update('u', (live) => ({ ...live, metadata: { name: 'one', managedFields: [{}] } }), 'status'),
      ],
      content: { spec: { replicas: 1 } },
      owners: ['m Apply: .spec.replicas'],
    },
    {
      name: 'are named in conflicts',
      given: [
        update('u', { spec: {}, status: {} }),
        apply('m', { status: { replicas: 1 } }, 'status'),
        update('v', (live) => ({ ...live, status: { replicas: 2 } }), 'status'),
        apply('m', { status: { replicas: 3 } }, 'status'),
      ],
      refusal:
        'Apply failed with 1 conflict: conflict with "v" with subresource "status" using apps/v1: .status.replicas',
      content: { spec: {}, status: { replicas: 2 } },
      owners: ['v Update status: .status.replicas'],
    },
  ];
  it.each(scenarios)('$name', (scenario) => run(ManagedObject.of('apps', 'v1', 'Deployment'), scenario));
});

describe('invalid configurations', () => {
  it.each<[string, JsonObject, string]>([
    ['an unknown field', { zz: 1 }, '.zz: field not declared in schema'],
    ['a string instead of a map', { data: 'x' }, '.data: expected map, got &{x}'],
    ['a number instead of a string', { data: { a: 1 } }, '.data.a: expected string, got &{1}'],
    ['a map instead of a list', { metadata: { finalizers: {} } }, '.metadata.finalizers: expected list, got &{map[]}'],
    [
      'a duplicate item',
      { metadata: { finalizers: ['a/b', 'a/b'] } },
      '.metadata.finalizers: duplicate entries for key [="a/b"]',
    ],
    [
      'a null item',
      { metadata: { finalizers: [null] } },
      ".metadata.finalizers: element 0: associative list without keys has an element that's an explicit null",
    ],
    [
      'several errors',
      { immutable: 'x', zz: 1 },
      'errors:\n  .immutable: expected boolean, got &{x}\n  .zz: field not declared in schema',
    ],
  ])('%s is refused (422)', (_, config, want) => {
    const refusal = ManagedObject.of('', 'v1', 'ConfigMap').write(apply('m', config));
    expect(refusal).toBe(`failed to create typed patch object (/one; /v1, Kind=ConfigMap): ${want}`);
  });

  it.each<[JsonObject, string]>([
    [{ kind: 'Secret' }, 'invalid object type: /v1, Kind=Secret'],
    [{ apiVersion: 'apps/v1' }, 'invalid object type: apps/v1, Kind=ConfigMap'],
    [{ apiVersion: null, kind: null }, 'invalid object type: /, Kind='],
  ])('refuses %j', (config, want) =>
    expect(ManagedObject.of('', 'v1', 'ConfigMap').write(apply('m', config))).toBe(want),
  );
});

describe('upgrade from client-side apply', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
  const noted = (values: Record<string, string>) =>
    `${JSON.stringify({ apiVersion: 'v1', data: values, kind: 'ConfigMap', metadata: { name: 'one' } })}\n`;
  const before = (note: Record<string, string>, values: Record<string, string>): ManagedWrite =>
    update('kubectl-client-side-apply', { metadata: { annotations: { [annotation]: noted(note) } }, data: values });

  it.each<{ name: string; given: ManagedWrite[]; refusal: string | undefined; note: Record<string, string> }>([
    {
      name: 'fields of last-applied are no conflict for kubectl',
      given: [before({ a: '1' }, { a: '1' }), apply('kubectl', data({ a: '2' }))],
      refusal: undefined,
      note: { a: '2' },
    },
    {
      name: 'fields of last-applied are a conflict for other managers',
      given: [before({ a: '1' }, { a: '1' }), apply('argo', data({ a: '2' }))],
      refusal: 'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.a',
      note: { a: '1' },
    },
    {
      name: 'fields changed since last-applied are a conflict',
      given: [before({ a: '1', b: '1' }, { a: '0', b: '1' }), apply('kubectl', data({ a: '2', b: '2' }))],
      refusal: 'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.a',
      note: { a: '1', b: '1' },
    },
  ])('$name', ({ given, refusal, note }) => {
    const object = ManagedObject.of('', 'v1', 'ConfigMap', annotation);
    expect(given.map((write) => object.write(write))).toEqual([undefined, refusal]);
    const { annotations } = object.live!['metadata'] as { annotations: Record<string, string> };
    expect(annotations[annotation]).toBe(noted(note));
  });
});

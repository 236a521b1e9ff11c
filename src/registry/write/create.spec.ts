import { submittedPod, WriteWorld } from '../../../test/harness/write-world.js';
import type { Pod } from '../../catalog/types/core.v1.js';
import { noRevision } from '../../machinery/revision.js';
import type { ResourceDefinition } from '../definition/resource-definition.js';
import type { Strategy } from '../definition/strategy.js';
import { createObject } from './create.js';

let world: WriteWorld;
beforeEach(async () => {
  world = new WriteWorld();
  await world.start();
});
afterEach(() => world.stop());

const order = ['default', 'admit', 'prepare', 'reserve', 'validate', 'warn', 'validating admission', 'txn'];

it('the steps of a create run once, in order', async () => {
  await createObject(world.store, submittedPod('a'), world.context());
  expect(world.steps).toEqual(order);
});

const prepared = 'uid, typeDefaults, kindDefaults, owners, managedFields, admit, prepare';
it.each([
  ['default', 'uid, typeDefaults'],
  ['admit', 'uid, typeDefaults, kindDefaults, owners, managedFields'],
  ['prepare', 'uid, typeDefaults, kindDefaults, owners, managedFields, admit'],
  ['reserve', `${prepared}, generation 1`],
  ['validate', `${prepared}, reserve, generation 1`],
  ['warn', `${prepared}, reserve, generation 1`],
  ['validating admission', `${prepared}, reserve, generation 1`],
])('create step "%s" sees the effects of the steps before it', async (step, want) => {
  await createObject(world.store, submittedPod('a'), world.context());
  expect(world.seen.get(step)).toBe(want);
});

const noLists = { initContainers: [], nodeSelector: {} };
it.each<[string, object, (stored: Pod) => unknown, unknown]>([
  [
    'has no empty lists and maps',
    { spec: noLists },
    ({ spec = {} }) => Object.keys(noLists).filter((key) => key in spec),
    [],
  ],
  ['has the time of the server', { metadata: { creationTimestamp: '2000-01-01T00:00:00Z' } }, ({ metadata }) => metadata.creationTimestamp, '2026-01-01T00:00:00Z'], // prettier-ignore
  ['has a uid of the server', { metadata: { uid: 'mine' } }, ({ metadata }) => metadata.uid?.length, 36],
  ['is not being deleted', { metadata: { deletionTimestamp: '2000-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 } }, ({ metadata }) => [metadata.deletionTimestamp, metadata.deletionGracePeriodSeconds], [undefined, undefined]], // prettier-ignore
  ['may be submitted with resourceVersion 0', { metadata: { resourceVersion: '0' } }, ({ metadata }) => metadata.name, 'a'], // prettier-ignore
])('a created object %s', async (_what, given, read, want) => {
  await createObject(world.store, submittedPod('a', given), world.context());
  expect(read((await world.stored('a'))!)).toEqual(want);
});

it('managedFields of a create records defaults, but not what admission and prepare set', async () => {
  await createObject(world.store, submittedPod('a'), world.context());
  const { managedFields } = (await world.stored('a'))!.metadata;
  const fields = JSON.stringify(managedFields);
  expect(managedFields).toHaveLength(1);
  expect(['f:protocol', 'f:default', 'f:admit', 'f:prepare'].map((field) => fields.includes(field))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

describe('the submitted status of a created object', () => {
  it.each<[string, Partial<Strategy>, Partial<ResourceDefinition>, object | undefined]>([
    ['is replaced by an empty one', {}, {}, {}],
    ['is replaced by initialStatus', { initialStatus: (_pod, { now }) => ({ startTime: now }) }, {}, { startTime: '2026-01-01T00:00:00Z' }], // prettier-ignore
    ['is removed if initialStatus returns undefined', { initialStatus: () => undefined }, {}, undefined],
    ["is stored if initialStatus is 'submitted'", { initialStatus: 'submitted' }, {}, { phase: 'Running' }],
    ['is stored if the kind has no status subresource', {}, { subresources: {} }, { phase: 'Running' }],
  ])('%s', async (_what, strategy, definition, want) => {
    const other = new WriteWorld(strategy, definition);
    await createObject(other.store, submittedPod('a', { status: { phase: 'Running' } }), other.context()); // prettier-ignore
    expect(other.statusSeen.get('validate')).toEqual(want);
    await other.store.dependencies.kv.close();
  });

  it.each<[string, object | undefined]>([
    ['admit', { phase: 'Running' }],
    ['prepare', {}],
  ])('is seen by step "%s" as %j', async (step, want) => {
    await createObject(world.store, submittedPod('a', { status: { phase: 'Running' } }), world.context());
    expect(world.statusSeen.get(step)).toEqual(want);
  });
});

const supplied = [
  { manager: 'other', operation: 'Apply' as const, apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} },
];
it.each(['supplied', 'none'] as const)('managedFields with mode %s are stored unchanged', async (mode) => {
  const object = submittedPod('a', { metadata: { managedFields: supplied } });
  await createObject(world.store, object, world.context({}, { mode, definition: world.definition }));
  expect((await world.stored('a'))!.metadata.managedFields).toEqual(supplied);
});

it.each<[string, () => Promise<unknown>, object, string[]]>([
  ['resourceVersion is set', () => createObject(world.store, submittedPod('a', { metadata: { resourceVersion: '7' } }), world.context()), { code: 400 }, []], // prettier-ignore
  ['validation fails', () => createObject(world.store, submittedPod('a', { metadata: { labels: { bad: 'yes' } } }), world.context()), { code: 422 }, order.slice(0, 5)], // prettier-ignore
  ['metadata is invalid', () => createObject(world.store, submittedPod('a', { metadata: { labels: { '!': '' } } }), world.context()), { code: 422 }, order.slice(0, 5)], // prettier-ignore
  ['validating admission refuses', () => { world.onValidate = () => Promise.reject(new Error('refused')); return createObject(world.store, submittedPod('a'), world.context()); }, { message: 'refused' }, order.slice(0, 7)], // prettier-ignore
])('a create stops and stores nothing when %s', async (_what, call, want, steps) => {
  await expect(call()).rejects.toMatchObject(want);
  expect([world.steps, await world.stored('a')]).toEqual([steps, undefined]);
});

it('a kind that refuses creates runs no step (403)', async () => {
  const closed = new WriteWorld({ refusesCreate: 'not here' });
  const created = createObject(closed.store, submittedPod('a'), closed.context());
  await expect(created).rejects.toMatchObject({ code: 403 });
  expect(closed.steps).toEqual([]);
  await closed.store.dependencies.kv.close();
});

it('a dry run of a create runs every step but the transaction', async () => {
  const { created, encoded, object } = await createObject(
    world.store,
    submittedPod('a'),
    world.context({ dryRun: true }),
  );
  expect([created, encoded, object.metadata.generation, world.steps]).toEqual([true, undefined, 1, order.slice(0, 7)]);
  expect(await world.stored('a')).toBeUndefined();
});

it.each([false, true])('a create with an existing name is rejected (409), dry run: %s', async (dryRun) => {
  const before = await world.create('a');
  const created = createObject(world.store, submittedPod('a'), world.context({ dryRun }));
  await expect(created).rejects.toMatchObject({ reason: 'AlreadyExists' });
  expect(await world.stored('a')).toEqual(before);
});

it('generateName gives every create a name of its own', async () => {
  const names = new Set<string | undefined>();
  for (let i = 0; i < 3; i++) {
    const object = submittedPod('', { metadata: { generateName: 'a-' } });
    names.add((await createObject(world.store, object, world.context())).object.metadata.name);
  }
  expect([...names].map((name) => /^a-[a-z0-9]{5}$/.test(name!))).toEqual([true, true, true]);
});

describe('admission, which charges quotas, runs once', () => {
  const count = (step: string) => world.steps.filter((one) => one === step).length;

  it('if another writer changes the reserved key', async () => {
    const { reserve, dependencies } = world.store;
    const key = '/registry/ranges/x';
    world.store.reserve = async (next, old, request) => {
      const seen = await dependencies.kv.get(key);
      const reservation = (await reserve!(next, old, request))!;
      return { ...reservation, compares: [{ key, modRevision: seen.item?.modRevision ?? noRevision }] };
    };
    world.onValidate = async () => {
      await dependencies.kv.txn([], [{ type: 'put', key, value: Buffer.from('x') }]);
    };
    const { created } = await createObject(world.store, submittedPod('a'), world.context());
    expect([created, count('reserve'), count('conflict'), count('validating admission')]).toEqual([true, 2, 1, 1]);
  });

  it('if the generated name is taken', async () => {
    world.onValidate = (object) => world.elsewhere(object!.metadata.name!, (taken) => taken);
    const object = submittedPod('', { metadata: { generateName: 'a-' } });
    const { created } = await createObject(world.store, object, world.context());
    expect([created, count('admit'), count('validating admission')]).toEqual([true, 1, 1]);
  });
});

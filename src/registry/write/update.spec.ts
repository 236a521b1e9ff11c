import { labelled, submittedPod, WriteWorld } from '../../../test/harness/write-world.js';
import { ApiError } from '../../machinery/api-error.js';
import { int64Max, type Int64 } from '../../machinery/int64.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { Deferred } from '../../std/deferred.js';
import type { ResourceDefinition } from '../definition/resource-definition.js';
import type { Strategy } from '../definition/strategy.js';
import { updateObject, type Change, type UpdateOptions } from './update.js';
import type { ManagedFieldsMode } from './write-context.js';

let world: WriteWorld;
beforeEach(async () => {
  world = new WriteWorld();
  await world.start();
});
afterEach(() => world.stop());

const target = { namespace: 'ns', name: 'a' };
const plain: UpdateOptions = { requiresResourceVersion: false, createsMissing: false };
const update = (change: Change, options: Partial<UpdateOptions> = {}, context = world.context()) =>
  updateObject(world.store, target, change, { ...plain, ...options }, context);
/** A PUT of a Pod with a changed spec, without the metadata that the server sets. */
const put: Change = () => submittedPod('a', { spec: { nodeName: 'n' } });
const status = () => world.definition.subresources['status'] as NonNullable<UpdateOptions['subresource']>;

const order = ['default', 'admit', 'prepare', 'reserve', 'validate', 'warn', 'validating admission', 'txn'];

it('the steps of an update run once, in order', async () => {
  await world.create('a');
  await update(put);
  expect(world.steps).toEqual(order);
});

const prepared = 'uid, typeDefaults, kindDefaults, owners, managedFields, admit, prepare';
it.each([
  ['default', 'uid, generation 1'],
  ['admit', 'uid, typeDefaults, kindDefaults, owners, managedFields, generation 1'],
  ['prepare', 'uid, typeDefaults, kindDefaults, owners, managedFields, admit, generation 1'],
  ['reserve', `${prepared}, generation 1`],
  ['validate', `${prepared}, reserve, generation 2`],
  ['warn', `${prepared}, reserve, generation 2`],
  ['validating admission', `${prepared}, reserve, generation 2`],
])('update step "%s" sees the effects of the steps before it', async (step, want) => {
  await world.create('a');
  await update(put);
  const seen = world.seen.get(step)!;
  expect(step === 'default' ? seen.replace('typeDefaults, ', '') : seen).toBe(want);
});

it('type defaults are filled in before the defaults of the kind', async () => {
  await world.create('a');
  await update(put);
  expect(world.seen.get('default')).toContain('typeDefaults');
});

it('an update keeps metadata that the server sets', async () => {
  const { metadata } = await world.create('a');
  world.clock.advance(5000);
  await update(() => submittedPod('a', { metadata: { generation: 9, selfLink: '/a' }, spec: { nodeName: 'n' } }));
  const after = (await world.stored('a'))!.metadata;
  const { uid, creationTimestamp } = metadata;
  expect(after).toMatchObject({ uid, creationTimestamp, generation: 2 });
  expect(after).not.toHaveProperty('selfLink');
});

describe('the submitted status of an update', () => {
  const withStatus: Change = () => submittedPod('a', { spec: { nodeName: 'n' }, status: { phase: 'Failed' } });

  it.each<[string, Partial<Strategy>, Partial<ResourceDefinition>, object]>([
    ['is replaced by the stored one', { initialStatus: () => ({ phase: 'Running' }) }, {}, { phase: 'Running' }],
    ["is replaced by the stored one if initialStatus is 'submitted'", { initialStatus: 'submitted' }, {}, { phase: 'Pending' }], // prettier-ignore
    ['is stored if the kind has no status subresource', {}, { subresources: {} }, { phase: 'Failed' }],
  ])('%s', async (_what, strategy, definition, want) => {
    const other = new WriteWorld(strategy, definition);
    await other.start();
    await other.create('a', { status: { phase: 'Pending' } });
    await updateObject(other.store, target, withStatus, plain, other.context());
    expect(other.statusSeen.get('validate')).toEqual(want);
    await other.stop();
  });

  it.each<[string, object]>([
    ['admit', { phase: 'Failed' }],
    ['prepare', {}],
  ])('is seen by step "%s" as %j', async (step, want) => {
    await world.create('a');
    await update(withStatus);
    expect(world.statusSeen.get(step)).toEqual(want);
  });
});

it('an updated object is stored without empty lists and maps', async () => {
  await world.create('a');
  await update(() => submittedPod('a', { spec: { initContainers: [], nodeSelector: {} } }));
  const { spec } = (await world.stored('a'))!;
  expect(Object.keys(spec as object).filter((key) => key === 'initContainers' || key === 'nodeSelector')).toEqual([]);
});

describe('checks before the steps', () => {
  it.each<[string, (old: KubeObject) => [Change, Partial<UpdateOptions>], object, boolean]>([
    ['another uid in the preconditions', () => [put, { preconditions: { uid: 'other' } }], { code: 409 }, false],
    ['another resourceVersion in the preconditions', () => [put, { preconditions: { resourceVersion: '1' } }], { code: 409 }, false], // prettier-ignore
    ['another uid in the object', () => [() => submittedPod('a', { metadata: { uid: 'other' } }), {}], { code: 409 }, true], // prettier-ignore
    ['another resourceVersion in the object', () => [() => submittedPod('a', { metadata: { resourceVersion: '1' } }), {}], { code: 409 }, true], // prettier-ignore
    ['no resourceVersion where one is required', () => [put, { requiresResourceVersion: true }], { code: 422 }, true],
  ])('%s rejects the update', async (_what, given, want, isRead) => {
    const [change, options] = given(await world.create('a'));
    let calls = 0;
    const counted: Change = (current, encoded) => (calls++, change(current, encoded));
    await expect(update(counted, options)).rejects.toMatchObject(want);
    expect([world.steps, calls > 0]).toEqual([[], isRead]);
  });

  it('the uid and resourceVersion of the stored object are accepted', async () => {
    const { metadata } = await world.create('a');
    const { uid, resourceVersion } = metadata;
    const preconditions = { uid, resourceVersion };
    const object = submittedPod('a', { metadata: { uid, resourceVersion }, spec: { nodeName: 'n' } });
    await update(() => object, { preconditions, requiresResourceVersion: true });
    expect(world.steps).toEqual(order);
  });
});

it.each<[string, Change, object, string[]]>([
  ['validation fails', () => submittedPod('a', { metadata: { labels: { bad: 'yes' } } }), { code: 422 }, order.slice(0, 5)], // prettier-ignore
  ['metadata is invalid', () => submittedPod('a', { metadata: { labels: { '!': '' } } }), { code: 422 }, order.slice(0, 5)], // prettier-ignore
])('an update stops and stores nothing when %s', async (_what, change, want, steps) => {
  const before = await world.create('a');
  await expect(update(change)).rejects.toMatchObject(want);
  // The error is confirmed on the stored state, which is the same.
  expect([world.steps, await world.stored('a')]).toEqual([steps, before]);
});

describe('updates that change nothing', () => {
  it('write nothing, and return the stored object', async () => {
    const before = await world.create('a');
    world.clock.advance(60_000);
    const { object, created } = await update((current) => structuredClone(current!));
    expect([world.steps.includes('txn'), created, object]).toEqual([false, false, before]);
    expect(await world.stored('a')).toEqual(before);
  });

  it('write nothing if only the time of managedFields would change', async () => {
    const before = await world.create('a');
    world.clock.advance(60_000);
    await update((current) => ({ ...current!, metadata: submittedPod('a').metadata }));
    expect(await world.stored('a')).toEqual(before);
  });

  it('write nothing if apply has only changed the time of managedFields', async () => {
    const entry = { manager: 'tester', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1' };
    const managedFields = (time: string) => [{ ...entry, time, fieldsV1: { 'f:spec': {} } }];
    const withTime = (current: KubeObject, time: string): KubeObject => ({
      ...current,
      metadata: { ...current.metadata, managedFields: managedFields(time) },
    });
    await world.create('a');
    const context = world.context({}, { mode: 'supplied', definition: world.definition });
    await update((current) => withTime(current!, '2026-01-01T00:00:00Z'), {}, context);
    const before = await world.stored('a');
    await update((current) => withTime(current!, '2026-01-01T00:01:00Z'), {}, context);
    expect(await world.stored('a')).toEqual(before);
  });

  it.each([false, true])('see a change of another server during the update, dry run: %s', async (dryRun) => {
    await world.create('a');
    let attempts = 0;
    const change: Change = async (current) => {
      if (++attempts === 1) await world.elsewhere('a', (object) => labelled(object, 'other'));
      return structuredClone(current!);
    };
    const { object } = await update(change, {}, world.context({ dryRun }));
    expect([attempts, object.metadata.labels]).toEqual([2, { other: 'yes' }]);
  });
});

it('a dry run of an update runs every step but the transaction', async () => {
  const before = await world.create('a');
  const { object, encoded } = await update(put, {}, world.context({ dryRun: true }));
  expect([world.steps, encoded, object.metadata.generation]).toEqual([order.slice(0, 7), undefined, 2]);
  expect(await world.stored('a')).toEqual(before);
});

describe('conflicts', () => {
  it('the change is repeated on the state that another server has written', async () => {
    await world.create('a');
    let attempts = 0;
    await update(async (current) => {
      if (++attempts === 1) await world.elsewhere('a', (object) => labelled(object, 'other'));
      return labelled(current!, 'mine');
    });
    const { labels } = (await world.stored('a'))!.metadata;
    expect([attempts, labels]).toEqual([2, { other: 'yes', mine: 'yes' }]);
    expect(world.steps.filter((step) => step === 'txn' || step === 'conflict')).toEqual(['conflict', 'txn']);
  });

  it('the change is repeated as often as other servers change the object', async () => {
    await world.create('a');
    let attempts = 0;
    await update(async (current) => {
      const value = `${++attempts}`;
      if (attempts <= 50) await world.elsewhere('a', (object) => labelled(object, 'other', value));
      return labelled(current!, 'mine');
    });
    expect((await world.stored('a'))!.metadata.labels).toEqual({ other: '50', mine: 'yes' });
  });

  it('the update ends when its request does, although other servers go on changing the object', async () => {
    await world.create('a');
    const abort = new AbortController();
    let attempts = 0;
    const change: Change = async (current) => {
      const value = `${++attempts}`;
      await world.elsewhere('a', (object) => labelled(object, 'other', value));
      if (attempts === 20) abort.abort(new Error('timed out'));
      return labelled(current!, 'mine');
    };
    const context = world.context();
    const request = { ...context.request, signal: abort.signal } as typeof context.request;
    await expect(update(change, {}, { ...context, request })).rejects.toThrow();
    expect(attempts).toBe(20);
    expect((await world.stored('a'))!.metadata.labels).toEqual({ other: '20' });
  });

  it('the update fails (409) if it conflicts again and again although nobody changes the object', async () => {
    let attempts = 0;
    const alreadyExists = () => {
      attempts++;
      throw ApiError.alreadyExists(world.store.groupResource, 'a');
    };
    await expect(update(alreadyExists, { createsMissing: true })).rejects.toMatchObject({
      code: 409,
      reason: 'Conflict',
    });
    expect(attempts).toBe(6);
  });

  it('an error on a stale cached state is dropped: the update is repeated on the stored state', async () => {
    await world.create('a', { metadata: { labels: { bad: '' } } });
    let attempts = 0;
    await update(async (current) => {
      if (++attempts > 1) return labelled(current!, 'mine');
      await world.elsewhere('a', (object) => labelled(object, 'other'));
      return labelled(current!, 'bad');
    });
    expect([attempts, (await world.stored('a'))!.metadata.labels]).toEqual([2, { bad: '', other: 'yes', mine: 'yes' }]);
  });

  it('an error that is not due to the state is not retried', async () => {
    await world.create('a');
    let attempts = 0;
    const failing: Change = () => {
      attempts++;
      throw new Error('broken');
    };
    await expect(update(failing)).rejects.toThrow('broken');
    expect(attempts).toBe(1);
  });

  it('writers of this process take turns, so that none of them conflicts', async () => {
    await world.create('a');
    const names = ['b', 'c', 'd', 'e'];
    await Promise.all(names.map((name) => update((current) => labelled(current!, name))));
    expect(Object.keys((await world.stored('a'))!.metadata.labels!)).toEqual(names);
    expect(world.steps).not.toContain('conflict');
  });

  it('writers that overlap, since their turns have passed, take turns again when they conflict', async () => {
    await world.create('a');
    const names = ['b', 'c', 'd', 'e', 'f', 'g'];
    const store = new Deferred<undefined>();
    let attempts = 0;
    const updates = names.map((name) =>
      update(async (current) => {
        attempts++;
        await store.promise;
        return labelled(current!, name);
      }),
    );
    for (const _ of names) {
      await new Promise((resolve) => setImmediate(resolve));
      world.clock.advance(1000);
    }
    expect(attempts).toBe(6);
    store.resolve(undefined);
    await Promise.all(updates);
    expect(Object.keys((await world.stored('a'))!.metadata.labels!).sort()).toEqual(names);
    // All but the first conflict, once.
    expect(attempts).toBe(11);
  });
});

it.each<[Int64, Int64]>([
  [1, 2],
  [Number.MAX_SAFE_INTEGER, 2n ** 53n],
  [2n ** 53n + 1n, 2n ** 53n + 2n],
  [int64Max, int64Max],
])('an update of the spec changes metadata.generation %s to %s', async (generation, want) => {
  await world.create('a');
  await world.elsewhere('a', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, generation } }));
  await world.stored('a');
  await update((current) => ({ ...current!, spec: { ...(current!['spec'] as object), hostname: 'h' } }));
  expect((await world.stored('a'))!.metadata.generation).toBe(want);
});

describe('an object that does not exist', () => {
  it.each<[string, Change, Partial<UpdateOptions>, ManagedFieldsMode['mode'], object]>([
    ['without createsMissing (404)', put, {}, 'none', { code: 404 }],
    ['with a uid by PUT (409)', () => submittedPod('a', { metadata: { uid: 'u' } }), { createsMissing: true }, 'none', { code: 409, message: expect.stringContaining('Precondition failed') as string }], // prettier-ignore
    ['with a uid by apply (409)', () => submittedPod('a', { metadata: { uid: 'u' } }), { createsMissing: true }, 'supplied', { code: 409, message: expect.stringContaining('uid mismatch') as string }], // prettier-ignore
    ['with a resourceVersion (404)', () => submittedPod('a', { metadata: { resourceVersion: '3' } }), { createsMissing: true }, 'none', { code: 404 }], // prettier-ignore
    ['with a resourceVersion in the preconditions (404)', put, { createsMissing: true, preconditions: { resourceVersion: '3' } }, 'none', { code: 404 }], // prettier-ignore
  ])('is not created %s', async (_what, change, options, mode, want) => {
    const context = world.context({}, { mode: mode as 'none' });
    await expect(update(change, options, context)).rejects.toMatchObject(want);
    expect([world.steps, await world.stored('a')]).toEqual([[], undefined]);
  });

  it('is created by the steps of a create', async () => {
    const { created } = await update(put, { createsMissing: true });
    expect([created, world.steps, world.seen.get('validate')]).toEqual([
      true,
      order,
      expect.stringContaining('generation 1'),
    ]);
  });

  it('is updated if another server has created it meanwhile', async () => {
    const seen: boolean[] = [];
    const change: Change = async (current) => {
      seen.push(current !== undefined);
      if (seen.length === 1) await world.elsewhere('a', (object) => labelled(object, 'other'));
      return current ? labelled(current, 'mine') : submittedPod('a');
    };
    const { created } = await update(change, { createsMissing: true });
    expect([created, seen, (await world.stored('a'))!.metadata.labels]).toEqual([
      false,
      [false, true],
      { other: 'yes', mine: 'yes' },
    ]);
  });
});

it('the update that removes the last finalizer of a deleted object removes it, and releases its reservation', async () => {
  await world.create('a', { metadata: { finalizers: ['example.com/f'] } });
  await world.elsewhere('a', ({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 },
  }));
  await world.stored('a');
  await update((current) => ({ ...current!, metadata: { ...current!.metadata, finalizers: [] } }));
  expect([world.steps.slice(-2), await world.stored('a')]).toEqual([['release', 'txn'], undefined]);
});

describe('through a subresource', () => {
  const running: Change = (current) => ({ ...current!, status: { phase: 'Running' }, spec: {} });

  it('its own hooks replace those of the kind, and nothing is reserved', async () => {
    const before = await world.create('a');
    await update(running, { subresource: status() });
    expect(world.steps).toEqual(['admit', 'prepare status', 'validate status', 'warn', 'validating admission']);
    const after = (await world.stored('a'))!;
    expect([after['spec'], after['status'], after.metadata.generation]).toEqual([before['spec'], { phase: 'Running' }, 1]); // prettier-ignore
  });

  const entry = { manager: 'other', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} };
  it.each<[ManagedFieldsMode['mode'], string[]]>([
    ['track', ['tester', 'tester']],
    ['supplied', ['other']],
    ['none', ['tester']],
  ])('managedFields with mode %s have the managers %j', async (mode, want) => {
    await world.create('a');
    const managedFields = { mode, definition: world.definition, subresource: 'status' };
    const change: Change = (current) => {
      const changed = running(current, undefined) as KubeObject;
      return mode === 'supplied' ? { ...changed, metadata: { ...changed.metadata, managedFields: [entry] } } : changed;
    };
    await update(change, { subresource: status() }, world.context({}, managedFields));
    const after = (await world.stored('a'))!.metadata.managedFields as unknown as { manager: string }[];
    expect(after.map(({ manager }) => manager)).toEqual(want);
  });
});

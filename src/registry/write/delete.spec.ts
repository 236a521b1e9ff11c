import { labelled, WriteWorld } from '../../../test/harness/write-world.js';
import { ApiError } from '../../machinery/api-error.js';
import { plainDelete, type DeleteOptions } from '../../machinery/delete-options.js';
import { int64Max, int64Min, type Int64 } from '../../machinery/int64.js';
import type { DeletionStrategy } from '../definition/strategy.js';
import type { RequestContext } from '../request-context.js';
import { deleteObject, deleteObjectIf } from './delete.js';

let world: WriteWorld;
const start = async (deletion?: DeletionStrategy): Promise<void> => {
  world = new WriteWorld(deletion && { deletion });
  await world.start();
};
afterEach(() => world.stop());

const target = { namespace: 'ns', name: 'a' };
const remove = (options: Partial<DeleteOptions> = {}, request: Partial<RequestContext> = {}) =>
  deleteObject(world.store, target, { ...plainDelete, ...options }, world.context(request));
const finalizers = ['example.com/f'];
const held = { metadata: { finalizers } };
/** A grace period of 30 seconds, or the requested one. */
const graceful: DeletionStrategy = { graceSeconds: (_object, requested) => requested ?? 30 };

it('an object that nothing holds is removed in one write, and its reservation is released', async () => {
  await start();
  const { metadata } = await world.create('a');
  const { gone, object } = await remove();
  expect([gone, object.metadata.uid, object.metadata.deletionTimestamp]).toEqual([true, metadata.uid, undefined]);
  expect(world.steps).toEqual(['validating admission', 'release', 'txn']);
  expect([await world.stored('a'), world.events]).toEqual([undefined, ['delete']]);
});

it('an object that does not exist is not found (404)', async () => {
  await start();
  await expect(remove()).rejects.toMatchObject({ code: 404 });
  expect(world.steps).toEqual([]);
});

describe('checks before the deletion', () => {
  const refuse = () => {
    throw ApiError.badRequest('refused');
  };
  it.each<[string, Partial<DeleteOptions>, DeletionStrategy, object]>([
    ['another uid in the preconditions', { preconditions: { uid: 'other' } }, { refuse }, { code: 409 }],
    ['another resourceVersion in the preconditions', { preconditions: { resourceVersion: '1' } }, {}, { code: 409 }],
    ['a kind that refuses', {}, { refuse }, { message: 'refused' }],
  ])('%s rejects the deletion before admission', async (_what, options, deletion, want) => {
    await start(deletion);
    const before = await world.create('a');
    await expect(remove(options)).rejects.toMatchObject(want);
    expect([world.steps, await world.stored('a')]).toEqual([[], before]);
  });

  it('the uid and resourceVersion of the stored object are accepted', async () => {
    await start();
    const { uid, resourceVersion } = (await world.create('a')).metadata;
    expect(await remove({ preconditions: { uid, resourceVersion } })).toMatchObject({ gone: true });
  });

  it('validating admission that refuses keeps the object', async () => {
    await start(graceful);
    const before = await world.create('a');
    world.onValidate = () => Promise.reject(new Error('refused'));
    await expect(remove()).rejects.toThrow('refused');
    expect(await world.stored('a')).toEqual(before);
  });

  it.each([
    [{}, ['dependents stay']],
    [{ propagationPolicy: 'Background' as const }, []],
  ])('the orphan warning of a kind is sent for %j: %j', async (options, want) => {
    await start({ dependents: 'orphan', orphanWarning: 'dependents stay' });
    await world.create('a');
    const warnings: string[] = [];
    await remove(options, { warnings });
    expect(warnings).toEqual(want);
  });
});

describe('deletionTimestamp', () => {
  it('is set on an object with finalizers, which stays', async () => {
    await start({ prepareForDelete: (object) => void (object['status'] = { phase: 'Failed' }) });
    await world.create('a', held);
    const { gone } = await remove();
    const after = (await world.stored('a'))!;
    expect([gone, after.metadata, after['status']]).toEqual([
      false,
      expect.objectContaining({
        finalizers,
        deletionTimestamp: '2026-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 0,
        generation: 2,
      }),
      { phase: 'Failed' },
    ]);
    expect([world.steps, world.events]).toEqual([['validating admission'], ['put']]);
  });

  it('is not set again: a second deletion writes nothing', async () => {
    await start();
    await world.create('a', held);
    await remove();
    const before = await world.stored('a');
    world.clock.advance(5000);
    const { gone, object } = await remove();
    expect([gone, object, await world.stored('a')]).toEqual([false, before, before]);
  });

  it.each<[string, DeletionStrategy, Int64, Int64]>([
    ['counts as a change', {}, 1, 2],
    ['beyond 2^53 counts as a change', {}, 2n ** 53n + 1n, 2n ** 53n + 2n],
    ['at its largest value stays', {}, int64Max, int64Max],
    ['of a kind that keeps it stays', { keepsGeneration: true }, 2n ** 53n + 1n, 2n ** 53n + 1n],
  ])('metadata.generation %s', async (_what, deletion, generation, want) => {
    await start(deletion);
    await world.create('a', held);
    await world.elsewhere('a', ({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, generation } }));
    await world.stored('a');
    expect(await remove()).toMatchObject({ gone: false });
    expect((await world.stored('a'))!.metadata.generation).toBe(want);
  });

  it('is set on an object that its kind holds', async () => {
    await start({ holds: () => true });
    await world.create('a');
    expect(await remove()).toMatchObject({ gone: false });
    expect((await world.stored('a'))!.metadata.deletionTimestamp).toBe('2026-01-01T00:00:00Z');
  });
});

describe('grace period', () => {
  it.each<[string, (Int64 | undefined)[], [string, Int64] | undefined]>([
    ['of the kind sets deletionTimestamp in the future', [undefined], ['2026-01-01T00:00:30Z', 30]],
    ['of the request is used', [60], ['2026-01-01T00:01:00Z', 60]],
    ['below 0 is 1 second', [-5], ['2026-01-01T00:00:01Z', 1]],
    ['is shortened by a second deletion', [60, 20], ['2026-01-01T00:00:20Z', 20]],
    ['is not extended by a second deletion', [20, 60], ['2026-01-01T00:00:20Z', 20]],
    ['beyond the year 9999 is limited to it', [1e12], ['9999-12-31T23:59:59Z', 1e12]],
    ['beyond the times of JavaScript is limited too', [int64Max], ['9999-12-31T23:59:59Z', int64Max]],
    ['of the lowest int64 is 1 second', [int64Min], ['2026-01-01T00:00:01Z', 1]],
    ['that was limited is shortened from the present', [int64Max, 20], ['2026-01-01T00:00:20Z', 20]],
    ['that was limited is shortened to another limited one', [int64Max, 1e15], ['9999-12-31T23:59:59Z', 1e15]],
    ['that was limited removes the object if it is shortened to 0', [int64Max, 0], undefined],
    ['of 0 removes the object', [0], undefined],
    ['that is shortened to 0 removes the object', [60, 0], undefined],
  ])('%s', async (_what, requested, want) => {
    await start(graceful);
    await world.create('a');
    for (const gracePeriodSeconds of requested) await remove({ gracePeriodSeconds });
    const metadata = (await world.stored('a'))?.metadata;
    const times = metadata && [metadata.deletionTimestamp, metadata.deletionGracePeriodSeconds];
    expect(times).toEqual(want);
  });

  it('of 0 first writes the deletionTimestamp, for watchers', async () => {
    await start(graceful);
    await world.create('a');
    const { gone, object } = await remove({ gracePeriodSeconds: 0 });
    expect([gone, object.metadata.deletionTimestamp]).toEqual([true, '2026-01-01T00:00:00Z']);
    expect([await world.stored('a'), world.events]).toEqual([undefined, ['put', 'delete']]);
  });

  it('of 0 with a finalizer keeps the object', async () => {
    await start(graceful);
    await world.create('a', held);
    expect(await remove({ gracePeriodSeconds: 0 })).toMatchObject({ gone: false });
    expect((await world.stored('a'))!.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers });
  });
});

describe('propagation policy', () => {
  const orphan: Partial<DeleteOptions> = { propagationPolicy: 'Orphan' };
  const foreground: Partial<DeleteOptions> = { propagationPolicy: 'Foreground' };
  const background: Partial<DeleteOptions> = { propagationPolicy: 'Background' };
  it.each<[string, Partial<DeleteOptions>[], DeletionStrategy['dependents'], string[] | undefined]>([
    ['Orphan adds a finalizer', [orphan], undefined, ['orphan']],
    ['Foreground adds a finalizer', [foreground], undefined, ['foregroundDeletion']],
    ['Background adds none', [background], undefined, undefined],
    ['orphanDependents true is Orphan', [{ orphanDependents: true }], undefined, ['orphan']],
    ['orphanDependents false is Background', [{ orphanDependents: false }], 'orphan', undefined],
    ['Orphan is the default of some kinds', [{}], 'orphan', ['orphan']],
    ['kinds without dependents ignore it', [orphan], 'ignore', undefined],
    ['a later request replaces that of an earlier one', [orphan, foreground], undefined, ['foregroundDeletion']],
    ['a later request without one keeps that of an earlier one', [foreground, {}], 'orphan', ['foregroundDeletion']],
  ])('%s', async (_what, requests, dependents, want) => {
    await start(dependents && { dependents });
    await world.create('a');
    for (const request of requests) await remove(request);
    expect((await world.stored('a'))?.metadata.finalizers).toEqual(want);
  });

  it('other finalizers are kept', async () => {
    await start();
    await world.create('a', held);
    await remove(foreground);
    expect((await world.stored('a'))!.metadata.finalizers).toEqual([...finalizers, 'foregroundDeletion']);
  });
});

it.each<[string, DeletionStrategy, object, boolean]>([
  ['an object that nothing holds', {}, {}, true],
  ['an object with finalizers', {}, held, false],
  ['an object with a grace period of 0', { graceSeconds: () => 0 }, {}, true],
])('a dry run for %s writes nothing', async (_what, deletion, more, want) => {
  await start(deletion);
  const before = await world.create('a', more);
  expect(await remove({}, { dryRun: true })).toMatchObject({ gone: want, encoded: undefined });
  expect([world.steps, await world.stored('a'), world.events]).toEqual([['validating admission'], before, []]);
});

describe('conflicts', () => {
  /** Changes the object in the middle of the first `attempts` attempts. */
  const changedElsewhere = (attempts: number): { count: number } => {
    const tries = { count: 0 };
    world.onValidate = async () => {
      if (tries.count++ < attempts) await world.elsewhere('a', (object) => labelled(object, 'try', `${tries.count}`));
    };
    return tries;
  };

  it.each<[string, object]>([
    ['removes', {}],
    ['marks', held],
  ])('a deletion that %s the object is repeated on the state that another server has written', async (_what, more) => {
    await start();
    await world.create('a', more);
    const tries = changedElsewhere(1);
    const { object } = await remove();
    expect([tries.count, object.metadata.labels]).toEqual([2, { try: '1' }]);
  });

  it('preconditions are checked again', async () => {
    await start();
    const { resourceVersion } = (await world.create('a')).metadata;
    changedElsewhere(1);
    await expect(remove({ preconditions: { resourceVersion } })).rejects.toMatchObject({ code: 409 });
    expect((await world.stored('a'))!.metadata.labels).toEqual({ try: '1' });
  });

  it('a deletion is repeated as often as other servers change the object', async () => {
    await start();
    await world.create('a');
    const tries = changedElsewhere(50);
    const { object } = await remove();
    expect([tries.count, object.metadata.labels]).toEqual([51, { try: '50' }]);
  });

  it('an object that another server has removed is not found (404)', async () => {
    await start();
    await world.create('a');
    world.onValidate = () => world.elsewhere('a', () => undefined);
    await expect(remove()).rejects.toMatchObject({ code: 404 });
  });

  it('a dry run sees that another server has removed the object (404)', async () => {
    await start();
    await world.create('a');
    world.onValidate = () => world.elsewhere('a', () => undefined);
    await expect(remove({}, { dryRun: true })).rejects.toMatchObject({ code: 404 });
  });

  it('an object that was marked with grace period 0, and that another server then removed, is deleted', async () => {
    await start(graceful);
    await world.create('a');
    const reserve = world.store.reserve!;
    world.store.reserve = async (next, old, request) => {
      if (!next) await world.elsewhere('a', () => undefined);
      return reserve(next, old, request);
    };
    expect(await remove({ gracePeriodSeconds: 0 })).toMatchObject({ gone: true });
    expect(world.events).toEqual(['put', 'delete']);
  });
});

describe('deleteObjectIf', () => {
  const removeUnlabelled = () =>
    deleteObjectIf(world.store, target, ({ metadata }) => !metadata.labels, plainDelete, world.context());

  it('deletes an object for which the condition holds', async () => {
    await start();
    await world.create('a');
    expect(await removeUnlabelled()).toMatchObject({ gone: true });
    expect(await world.stored('a')).toBeUndefined();
  });

  it('returns any other object unchanged, without admission', async () => {
    await start();
    const before = await world.create('a', { metadata: { labels: { a: 'b' } } });
    expect(await removeUnlabelled()).toMatchObject({ kept: before });
    expect([world.steps, await world.stored('a')]).toEqual([[], before]);
  });

  it('decides on the stored state, not on that of the cache', async () => {
    await start();
    await world.create('a');
    await world.elsewhere('a', (object) => labelled(object, 'other'));
    expect(await removeUnlabelled()).toMatchObject({ kept: { metadata: { labels: { other: 'yes' } } } });
  });

  it('checks the condition again after a conflict', async () => {
    await start();
    await world.create('a');
    world.onValidate = () => world.elsewhere('a', (object) => labelled(object, 'other'));
    expect(await removeUnlabelled()).toMatchObject({ kept: { metadata: { labels: { other: 'yes' } } } });
    expect(await world.stored('a')).toBeDefined();
  });

  it('throws for an object that does not exist (404)', async () => {
    await start();
    await expect(removeUnlabelled()).rejects.toMatchObject({ code: 404 });
  });
});

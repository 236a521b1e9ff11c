import { labelled, submittedPod } from '../../test/harness/write-world.js';
import { VerbWorld } from '../../test/harness/verb-world.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { plainDelete } from '../machinery/delete-options.js';
import { FieldReport } from '../registry/write/submission.js';
import { apply } from './apply.js';
import { change } from './change.js';
import { deleteOne } from './delete.js';
import { patch } from './patch.js';
import { update } from './update.js';
import type { RequestContext } from '../registry/request-context.js';
import type { Target, VerbAnswer } from './verb.js';

let world: VerbWorld;
beforeEach(async () => {
  world = new VerbWorld();
  await world.start();
});
afterEach(() => world.stop());

const bodyOf = (value: unknown) => ({ value, fields: new FieldReport('Strict', []) });
const allowed = () => Promise.resolve();
const put = (target: Target, value: unknown, requireCreate = allowed) =>
  update(world.chain, target, '', bodyOf(value), requireCreate);
const merge = (target: Target, value: unknown) => patch(world.chain, target, '', 'merge', bodyOf(value));
const applied = (target: Target, value: unknown, requireCreate = allowed) =>
  apply(world.chain, target, '', { decode: () => bodyOf(value) }, false, requireCreate);
const config = (metadata: object = {}) => ({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a', ...metadata } });

it.each<[string, (target: Target) => Promise<unknown>, number]>([
  ['PUT of another name', (target) => put(target, submittedPod('b')), 400],
  ['PUT of another namespace', (target) => put(target, submittedPod('a', { metadata: { namespace: 'o' } })), 400],
  ['PUT of an unknown field', (target) => put(target, { ...submittedPod('a'), extra: 1 }), 400],
  ['PUT of another uid', (target) => put(target, submittedPod('a', { metadata: { uid: 'u' } })), 409],
  ['PATCH of the name', (target) => merge(target, { metadata: { name: 'b' } }), 400],
  ['PATCH of the namespace', (target) => merge(target, { metadata: { namespace: 'o' } }), 400],
  ['PATCH of the uid', (target) => merge(target, { metadata: { uid: 'u' } }), 422],
  ['PATCH with a list', (target) => merge(target, []), 400],
  ['apply of another name', (target) => applied(target, { ...config(), metadata: { name: 'b' } }), 400],
  ['apply of another uid', (target) => applied(target, config({ uid: 'u' })), 422],
  ['apply of nothing', (target) => applied(target, 3), 400],
])('%s is rejected before admission', async (_what, call, code) => {
  const before = await world.create('a');
  await expect(call(world.target('a'))).rejects.toMatchObject({ code });
  expect([world.admitted, await world.stored('a')]).toEqual([[], before]);
});

it.each<[string, (target: Target) => Promise<unknown>]>([
  ['PUT', (target) => put(target, submittedPod('a', { metadata: { labels: { x: 'y' } } }))],
  ['PATCH', (target) => merge(target, { metadata: { labels: { x: 'y' } } })],
  ['apply', (target) => applied(target, config({ labels: { x: 'y' } }))],
  ['a change of the server', (target) => change(world.chain, target, '', (pod) => labelled(pod, 'x', 'y'))], // prettier-ignore
])('%s is admitted as UPDATE with the old object, and recorded for its field manager', async (_what, call) => {
  const before = await world.create('a');
  await call(world.target('a', { fieldManager: 'other' }));
  const common = { operation: 'UPDATE', resource: { group: '', resource: 'pods' }, kind: 'Pod', subresource: '', namespace: 'ns', name: 'a', old: before }; // prettier-ignore
  expect(world.admitted).toMatchObject([{ step: 'admit', ...common }, { step: 'validate', ...common }]); // prettier-ignore
  const { labels, managedFields } = (await world.stored('a'))!.metadata;
  expect(labels).toEqual({ x: 'y' });
  expect((managedFields as unknown as { manager: string }[]).map(({ manager }) => manager)).toContain('other');
});

it.each<[string, (target: Target) => Promise<VerbAnswer>]>([
  [
    'PUT',
    (target) => put(target, { ...submittedPod('a', { metadata: { labels: { x: 'y' } } }), apiVersion: 'v1beta1' }),
  ],
  ['PATCH', (target) => merge(target, { metadata: { labels: { x: 'y' } } })],
  ['apply', (target) => applied(target, { ...config({ labels: { x: 'y' } }), apiVersion: 'v1beta1' })],
])('%s in another version is stored in the storage version and answered in its own', async (_what, call) => {
  await world.create('a');
  const answer = await call(world.otherVersionTarget('a', { dryRun: true }));
  expect(answer).toMatchObject({ type: 'computed', code: 200, object: { apiVersion: 'v1beta1' } });
  await call(world.otherVersionTarget('a'));
  const stored = (await world.stored('a'))!;
  expect([stored.apiVersion, stored.metadata.annotations!['converted'] !== undefined]).toEqual(['v1', true]);
});

it('a PUT that conflicts is repeated with what the client submitted', async () => {
  await world.create('a');
  let attempts = 0;
  world.onValidate = async () => {
    if (++attempts === 1) await world.elsewhere('a', (object) => labelled(object, 'other'));
  };
  const body = submittedPod('a', { metadata: { labels: { x: 'y' } } });
  const submitted = structuredClone(body);
  await put(world.target('a'), body);
  expect([attempts, body]).toEqual([2, submitted]);
  // Each attempt begins without the annotations that the steps of the one before have left.
  expect(world.steps.filter((step) => step === 'default')).toHaveLength(2);
  expect((await world.stored('a'))!.metadata.labels).toEqual({ x: 'y' });
});

it('apply of an object that does not exist creates it, after the user may create it (201)', async () => {
  const steps: string[] = [];
  const requireCreate = () => Promise.resolve(void steps.push(...world.admitted.map(({ step }) => step)));
  const answer = await applied(
    world.target('a'),
    submittedPod('a', { metadata: { ownerReferences: [] } }),
    requireCreate,
  );
  expect([answer, steps]).toMatchObject([{ code: 201 }, ['admit']]);
  expect(world.admitted.map(({ operation }) => operation)).toEqual(['CREATE', 'CREATE']);
});

it('apply by a user who may not create stores nothing', async () => {
  const refused = () => Promise.reject(new Error('may not create'));
  const value: KubeObject = submittedPod('a', { metadata: { ownerReferences: [] } });
  await expect(applied(world.target('a'), value, refused)).rejects.toThrow('may not create');
  expect(await world.stored('a')).toBeUndefined();
});

describe('an apply that changed nothing', () => {
  const labelledAs = (x: string, more: object = {}) => ({ ...config({ labels: { x } }), ...more });
  const body = (value: unknown) => Buffer.from(JSON.stringify(value));
  const fields = (level: 'Ignore' | 'Warn') => new FieldReport(level, level === 'Warn' ? ['a duplicate'] : []);
  let decoded = 0;
  const send = async (
    value: object,
    request: Partial<RequestContext> = {},
    force = false,
    level: 'Ignore' | 'Warn' = 'Ignore',
  ) => {
    const decode = () => (decoded++, { value, fields: fields(level) });
    const sent = { body: body(value), mediaType: 'application/apply-patch+yaml', fieldValidation: level };
    await apply(world.chain, world.target('a', request), '', { decode, sent }, force, allowed);
    const stored = (await world.stored('a'))!;
    return [decoded, stored.metadata.resourceVersion, stored.metadata.labels] as const;
  };

  beforeEach(async () => {
    await send(labelledAs('y'));
    await send(labelledAs('y'));
    decoded = 0;
  });

  it('is not decoded again, but admitted', async () => {
    const before = await world.stored('a');
    world.admitted.length = 0;
    expect(await send(labelledAs('y'))).toEqual([0, before!.metadata.resourceVersion, { x: 'y' }]);
    expect(world.admitted.map(({ object }) => object!.metadata.labels)).toEqual([{ x: 'y' }, { x: 'y' }]);
    expect(await world.stored('a')).toEqual(before);
  });

  it.each<[string, Parameters<typeof send>]>([
    ['another configuration', [labelledAs('z')]],
    ['another manager', [labelledAs('y'), { fieldManager: 'other' }]],
    ['force', [labelledAs('y'), {}, true]],
    ['another fieldValidation', [labelledAs('y'), {}, false, 'Warn']],
  ])('is decoded with %s', async (_what, request) => {
    expect((await send(...request))[0]).toBe(1);
  });

  it('is decoded and merged if the object has changed', async () => {
    await world.elsewhere('a', (object) => labelled(object, 'other'));
    const [decodings, , labels] = await send(labelledAs('y'));
    expect([decodings, labels]).toEqual([1, { other: 'yes', x: 'y' }]);
  });

  it('is decoded and merged if the object changes during the request', async () => {
    world.onValidate = async () => {
      world.onValidate = async () => {};
      expect(decoded).toBe(0);
      await world.elsewhere('a', (object) => labelled(object, 'other'));
    };
    const [decodings, , labels] = await send(labelledAs('y'));
    expect([decodings, labels]).toEqual([1, { other: 'yes', x: 'y' }]);
  });

  it('is decoded each time if it leads to a warning', async () => {
    for (const want of [1, 2, 3]) expect((await send(labelledAs('y'), {}, false, 'Warn'))[0]).toBe(want);
  });

  it('is remembered for several managers', async () => {
    for (const fieldManager of ['b', 'c', 'b', 'c']) await send(labelledAs('y'), { fieldManager });
    expect(decoded).toBe(4);
    for (const fieldManager of ['b', 'c']) await send(labelledAs('y'), { fieldManager });
    expect(decoded).toBe(4);
  });

  describe('and on which no plug-in acts', () => {
    beforeEach(async () => {
      await world.stop();
      world = new VerbWorld({ warnings: () => [] });
      await world.start();
      world.actsOnUnchanged = false;
      await send(labelledAs('y'));
      await send(labelledAs('y'));
      decoded = 0;
      world.admitted.length = 0;
    });
    const steps = () => world.admitted.map(({ step }) => step);
    const both = ['admit', 'validate'];

    it('is neither decoded nor admitted', async () => {
      const before = await world.stored('a');
      expect(await send(labelledAs('y'))).toEqual([0, before!.metadata.resourceVersion, { x: 'y' }]);
      expect([steps(), await world.stored('a')]).toEqual([[], before]);
    });

    it('is admitted from when a plug-in acts on it', async () => {
      world.actsOnUnchanged = true;
      await send(labelledAs('y'));
      expect([decoded, steps()]).toEqual([0, both]);
    });

    it('is admitted again in each state that was reached while a plug-in acted', async () => {
      world.actsOnUnchanged = true;
      await world.elsewhere('a', (object) => labelled(object, 'other'));
      for (const want of [1, 1]) expect((await send(labelledAs('y')))[0]).toBe(want);
      world.admitted.length = 0;
      world.actsOnUnchanged = false;
      await send(labelledAs('y'));
      expect(steps()).toEqual(both);
      await send(labelledAs('y'));
      expect([decoded, steps()]).toEqual([1, both]);
    });

    it('is merged and admitted if another server has changed the object, and the cache does not show it yet', async () => {
      const elsewhere = world.elsewhere('a', (object) => labelled(object, 'other'));
      const [decodings, , labels] = await send(labelledAs('y'));
      await elsewhere;
      expect([decodings, labels, steps()]).toEqual([1, { other: 'yes', x: 'y' }, both]);
    });

    it('is checked against preconditions', async () => {
      const target = { ...world.target('a'), preconditions: { uid: 'other' } };
      const sent = {
        body: body(labelledAs('y')),
        mediaType: 'application/apply-patch+yaml',
        fieldValidation: 'Ignore',
      };
      const decode = () => bodyOf(labelledAs('y'));
      const repeated = apply(world.chain, target, '', { decode, sent }, false, allowed);
      await expect(repeated).rejects.toMatchObject({ code: 409 });
    });
  });

  it('is admitted each time if its kind warns, although no plug-in acts', async () => {
    world.actsOnUnchanged = false;
    for (const _time of [1, 2, 3]) {
      world.admitted.length = 0;
      await send(labelledAs('y'));
      expect([decoded, world.admitted.length]).toEqual([0, 2]);
    }
  });

  it('does not give plug-ins the stored object to change', async () => {
    world.onAdmit = (object) => void (object!.metadata.labels!['x'] = 'changed');
    await send(labelledAs('y'));
    expect((await world.stored('a'))!.metadata.labels).toEqual({ x: 'changed' });
    world.onAdmit = () => {};
    expect((await send(labelledAs('y')))[2]).toEqual({ x: 'y' });
  });
});

it('DELETE is admitted once as DELETE without objects, then validated with the old object', async () => {
  const before = await world.create('a');
  const answer = await deleteOne(world.chain, world.target('a'), plainDelete);
  expect(answer).toMatchObject({ type: 'status', status: { status: 'Success', details: { name: 'a', kind: 'pods' } } });
  const common = { operation: 'DELETE', name: 'a', object: undefined };
  expect(world.admitted).toMatchObject([{ step: 'admit', ...common, old: undefined }, { step: 'validate', ...common, old: before }]); // prettier-ignore
});

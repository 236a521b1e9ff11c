import { submittedPod } from '../../test/harness/write-world.js';
import { VerbWorld } from '../../test/harness/verb-world.js';
import type { FieldValidation } from '../machinery/write-options.js';
import { FieldReport } from '../registry/write/submission.js';
import { create } from './create.js';

let world: VerbWorld;
beforeEach(async () => {
  world = new VerbWorld();
  await world.start();
});
afterEach(() => world.stop());

const bodyOf = (value: unknown, level: FieldValidation = 'Ignore') => ({ value, fields: new FieldReport(level, []) });

it.each<[string, unknown, FieldValidation, object]>([
  ['a list', [], 'Ignore', { code: 400 }],
  ['another kind', { ...submittedPod('a'), kind: 'Node' }, 'Ignore', { code: 400 }],
  ['another version', { ...submittedPod('a'), apiVersion: 'v2' }, 'Ignore', { code: 400 }],
  ['a field of another type', { ...submittedPod('a'), spec: 3 }, 'Ignore', { code: 400 }],
  ['an unknown field with Strict', { ...submittedPod('a'), extra: 1 }, 'Strict', { code: 400 }],
  ['another namespace', submittedPod('a', { metadata: { namespace: 'other' } }), 'Ignore', { code: 400 }],
])('a create of %s is rejected before admission (400)', async (_what, value, level, want) => {
  await expect(create(world.chain, world.target(''), bodyOf(value, level))).rejects.toMatchObject(want);
  expect([world.admitted, await world.stored('a')]).toEqual([[], undefined]);
});

it('an unknown field is dropped with a warning', async () => {
  const warnings: string[] = [];
  await create(world.chain, world.target('', { warnings }), bodyOf({ ...submittedPod('a'), extra: 1 }, 'Warn'));
  expect(warnings).toContain('unknown field "extra"');
  expect(await world.stored('a')).not.toHaveProperty('extra');
});

it('the namespace is that of the URL', async () => {
  const value = submittedPod('a', { metadata: { namespace: '' } });
  const answer = await create(world.chain, world.target(''), bodyOf(value));
  expect(answer).toMatchObject({ type: 'stored', code: 201 });
  expect((await world.stored('a'))!.metadata.namespace).toBe('ns');
});

it.each([
  ['its name', submittedPod('a'), [/^a$/, /^a$/]],
  [
    'its generated name, which mutating plug-ins do not see',
    submittedPod('', { metadata: { generateName: 'g-' } }),
    [/^$/, /^g-/],
  ],
])('admission sees a create with %s', async (_what, value, names) => {
  await create(world.chain, world.target(''), bodyOf(value));
  const common = { operation: 'CREATE', resource: { group: '', resource: 'pods' }, kind: 'Pod', subresource: '', namespaced: true, namespace: 'ns', old: undefined }; // prettier-ignore
  expect(world.admitted).toMatchObject([common, common]);
  expect(world.admitted.map(({ step }) => step)).toEqual(['admit', 'validate']);
  for (const [index, { name }] of world.admitted.entries()) expect(name).toMatch(names[index]!);
});

it('an object of another version is converted before its defaults, and stored in the storage version', async () => {
  const target = world.otherVersionTarget('', { dryRun: false });
  const answer = await create(world.chain, target, bodyOf({ ...submittedPod('a'), apiVersion: 'v1beta1' }));
  const stored = (await world.stored('a'))!;
  expect([answer.type, stored.apiVersion, stored.metadata.annotations]).toMatchObject(['stored', 'v1', { converted: 'before default' }]); // prettier-ignore
  expect(JSON.stringify(stored.metadata.managedFields)).toContain('"apiVersion":"v1beta1"');
});

it('a dry run returns the object in the version of the request (201)', async () => {
  const target = world.otherVersionTarget('', { dryRun: true });
  const answer = await create(world.chain, target, bodyOf({ ...submittedPod('a'), apiVersion: 'v1beta1' }));
  expect(answer).toMatchObject({ type: 'computed', code: 201, object: { apiVersion: 'v1beta1' } });
});

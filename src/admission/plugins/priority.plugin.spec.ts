import { admitted, hooksOf, podOf } from '../../../test/harness/admission.js';
import { priority } from './priority.plugin.js';

const classes = 'scheduling.k8s.io/priorityclasses';
const high = { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' };
const usual = { metadata: { name: 'usual' }, value: 10, globalDefault: true };
const lower = { metadata: { name: 'lower' }, value: 5, globalDefault: true };
const preempts = 'PreemptLowerPriority';

it.each([
  {
    name: '0 without a class and a default class',
    known: [],
    spec: {},
    want: { priority: 0, preemptionPolicy: preempts },
  },
  {
    name: 'the default class if it names none',
    known: [usual],
    spec: {},
    want: { priorityClassName: 'usual', priority: 10, preemptionPolicy: preempts },
  },
  {
    name: 'the lower of two default classes',
    known: [usual, lower],
    spec: {},
    want: { priorityClassName: 'lower', priority: 5 },
  },
  {
    name: 'the class that it names',
    known: [high, usual],
    spec: { priorityClassName: 'high' },
    want: { priority: 1000, preemptionPolicy: 'Never' },
  },
  {
    name: 'its class if it sets the same value',
    known: [high],
    spec: { priorityClassName: 'high', priority: 1000 },
    want: { priority: 1000 },
  },
])('a Pod has the priority of $name', async ({ known, spec, want }) => {
  const { object, refused } = await admitted(hooksOf(priority, { known: { [classes]: known } }), {
    object: podOf(spec),
  });
  expect(refused).toBeUndefined();
  expect(object).toMatchObject({ spec: want });
});

it.each([
  {
    name: 'an unknown class',
    spec: { priorityClassName: 'none' },
    want: 'no PriorityClass with name none was found',
  },
  {
    name: 'another value than that of the class',
    spec: { priority: 5 },
    want: 'the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
  },
  {
    name: 'another preemption policy than that of the class',
    spec: { preemptionPolicy: 'Never' },
    want: 'the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
  },
])('refuses $name', async ({ spec, want }) => {
  expect((await admitted(hooksOf(priority), { object: podOf(spec) })).refused).toBe(want);
});

it('an update without a priority keeps the old one', async () => {
  const old = podOf({ priority: 7, preemptionPolicy: 'Never' });
  const { object } = await admitted(hooksOf(priority), { object: podOf(), old });
  expect(object).toMatchObject({ spec: { priority: 7, preemptionPolicy: 'Never' } });
});

it.each([
  {
    name: 'a second default class',
    object: { metadata: { name: 'b' }, globalDefault: true },
    want: 'PriorityClass usual is already marked as default. Only one default can exist',
  },
  { name: 'no class that is not the default', object: { metadata: { name: 'b' } }, want: undefined },
  { name: 'no update of the default class', object: usual, old: usual, want: undefined },
])('PriorityClass: refuses $name', async ({ object, old, want }) => {
  const plugin = hooksOf(priority, { known: { [classes]: [usual] } });
  const { refused } = await admitted(plugin, { of: classes, clusterWide: true, object, ...(old && { old }) });
  expect(refused).toBe(want);
});

import { admitted, hooksOf, podOf } from '../../../test/harness/admission.js';
import { limitRanger } from './limit-ranger.plugin.js';

const ranges = (...limits: object[]) => ({
  '/limitranges': [{ metadata: { name: 'l', namespace: 'ns' }, spec: { limits } }],
});
const container = (resources: object) => podOf({ containers: [{ name: 'c', resources }] });
const noted = (text: string) => ({
  metadata: { annotations: { 'kubernetes.io/limit-ranger': `LimitRanger plugin set: ${text}` } },
});

it.each([
  {
    name: 'missing requests and limits of containers',
    limit: { type: 'Container', default: { cpu: '1', memory: '1Gi' }, defaultRequest: { cpu: '100m' } },
    object: container({ limits: { memory: '2Gi' } }),
    want: {
      ...noted('cpu request for container c; cpu limit for container c'),
      spec: { containers: [{ resources: { limits: { cpu: '1', memory: '2Gi' }, requests: { cpu: '100m' } } }] },
    },
  },
  {
    name: 'missing requests of init containers',
    limit: { type: 'Container', defaultRequest: { memory: '1Mi', cpu: '1m' } },
    object: podOf({ containers: [], initContainers: [{ name: 'i' }] }),
    want: {
      ...noted('cpu, memory request for init container i'),
      spec: { initContainers: [{ resources: { requests: { cpu: '1m', memory: '1Mi' } } }] },
    },
  },
])('sets $name and notes it in an annotation', async ({ limit, object, want }) => {
  const outcome = await admitted(hooksOf(limitRanger, { known: ranges(limit) }), { object });
  expect(outcome.object).toMatchObject(want);
});

it('does not change Pods in a namespace without LimitRanges', async () => {
  expect((await admitted(hooksOf(limitRanger), { object: podOf() })).object).toMatchObject(podOf());
});

it.each([
  {
    name: 'a container limit above max',
    limits: [{ type: 'Container', max: { cpu: '1' } }],
    object: container({ limits: { cpu: '2' } }),
    want: 'maximum cpu usage per Container is 1, but limit is 2',
  },
  {
    name: 'a container without a limit if there is a max',
    limits: [{ type: 'Container', max: { cpu: '1' } }],
    object: container({ requests: { cpu: '2' } }),
    want: 'maximum cpu usage per Container is 1.  No limit is specified',
  },
  {
    name: 'a container request below min',
    limits: [{ type: 'Container', min: { memory: '1Mi' } }],
    object: container({ requests: { memory: '1Ki' } }),
    want: 'minimum memory usage per Container is 1Mi, but request is 1Ki',
  },
  {
    name: 'a container without a request if there is a min',
    limits: [{ type: 'Container', min: { memory: '1Mi' } }],
    object: container({}),
    want: 'minimum memory usage per Container is 1Mi.  No request is specified',
  },
  {
    name: 'several problems in one message',
    limits: [
      { type: 'Container', min: { cpu: '100m' }, maxLimitRequestRatio: { cpu: '2' } },
      { type: 'Pod', max: { memory: '1Gi' } },
    ],
    object: container({ requests: { cpu: '10m' }, limits: { cpu: '1', memory: '2Gi' } }),
    want: '[minimum cpu usage per Container is 100m, but request is 10m, cpu max limit to request ratio per Container is 2, but provided ratio is 100.000000, maximum memory usage per Pod is 1Gi, but limit is 2Gi]',
  },
  {
    name: 'a missing request if there is a maximum ratio',
    limits: [{ type: 'Container', maxLimitRequestRatio: { cpu: '2' } }],
    object: container({ limits: { cpu: '1' } }),
    want: 'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
  },
  {
    name: 'a Pod whose containers exceed max together',
    limits: [{ type: 'Pod', max: { cpu: '1' } }],
    object: podOf({ containers: ['a', 'b'].map((name) => ({ name, resources: { limits: { cpu: '600m' } } })) }),
    want: 'maximum cpu usage per Pod is 1, but limit is 1200m',
  },
  {
    name: 'nothing within the bounds',
    limits: [{ type: 'Container', min: { cpu: '100m' }, max: { cpu: '1' } }],
    object: container({ requests: { cpu: '100m' }, limits: { cpu: '1000m' } }),
    want: undefined,
  },
])('refuses $name', async ({ limits, object, want }) => {
  const { refused } = await admitted(hooksOf(limitRanger, { known: ranges(...limits) }), { object });
  expect(refused).toBe(want);
});

const claim = (storage: string) => ({ metadata: { name: 'c' }, spec: { resources: { requests: { storage } } } });

it.each([
  {
    name: 'refused above max',
    storage: '2Gi',
    want: 'maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
  },
  {
    name: 'refused below min',
    storage: '1Ki',
    want: 'minimum storage usage per PersistentVolumeClaim is 1Mi, but request is 1Ki',
  },
  { name: 'accepted within the bounds', storage: '1Gi', want: undefined },
])('a claim of $storage is $name', async ({ storage, want }) => {
  const known = ranges({ type: 'PersistentVolumeClaim', min: { storage: '1Mi' }, max: { storage: '1Gi' } });
  const { refused } = await admitted(hooksOf(limitRanger, { known }), {
    of: '/persistentvolumeclaims',
    object: claim(storage),
  });
  expect(refused).toBe(want);
});

it.each([
  { of: '/pods/resize', refuses: true },
  { of: '/pods', refuses: false },
  { of: '/pods/status', refuses: false },
])('an update of $of above max is refused: $refuses', async ({ of, refuses }) => {
  const known = ranges({ type: 'Container', max: { cpu: '1' } });
  const object = container({ limits: { cpu: '2' } });
  const { refused } = await admitted(hooksOf(limitRanger, { known }), { of, object, old: container({}) });
  expect(refused !== undefined).toBe(refuses);
});

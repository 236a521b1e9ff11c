import { admitted, pluginParts, podOf } from '../../../test/harness/admission.js';
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
    name: 'what is left out',
    limit: { type: 'Container', default: { cpu: '1', memory: '1Gi' }, defaultRequest: { cpu: '100m' } },
    object: container({ limits: { memory: '2Gi' } }),
    want: {
      ...noted('cpu request for container c; cpu limit for container c'),
      spec: { containers: [{ resources: { limits: { cpu: '1', memory: '2Gi' }, requests: { cpu: '100m' } } }] },
    },
  },
  {
    name: 'of init containers too',
    limit: { type: 'Container', defaultRequest: { memory: '1Mi', cpu: '1m' } },
    object: podOf({ containers: [], initContainers: [{ name: 'i' }] }),
    want: {
      ...noted('cpu, memory request for init container i'),
      spec: { initContainers: [{ resources: { requests: { cpu: '1m', memory: '1Mi' } } }] },
    },
  },
])('fills in $name', async ({ limit, object, want }) => {
  const outcome = await admitted(limitRanger(pluginParts({ known: ranges(limit) })), { object });
  expect(outcome.object).toMatchObject(want);
});

it('leaves Pods of a namespace without limits alone', async () => {
  expect((await admitted(limitRanger(pluginParts()), { object: podOf() })).object).toMatchObject(podOf());
});

it.each([
  {
    name: 'too large a container',
    limits: [{ type: 'Container', max: { cpu: '1' } }],
    object: container({ limits: { cpu: '2' } }),
    want: 'maximum cpu usage per Container is 1, but limit is 2',
  },
  {
    name: 'a container without a bound',
    limits: [{ type: 'Container', max: { cpu: '1' } }],
    object: container({ requests: { cpu: '2' } }),
    want: 'maximum cpu usage per Container is 1.  No limit is specified',
  },
  {
    name: 'too small a request',
    limits: [{ type: 'Container', min: { memory: '1Mi' } }],
    object: container({ requests: { memory: '1Ki' } }),
    want: 'minimum memory usage per Container is 1Mi, but request is 1Ki',
  },
  {
    name: 'no request where there is a least',
    limits: [{ type: 'Container', min: { memory: '1Mi' } }],
    object: container({}),
    want: 'minimum memory usage per Container is 1Mi.  No request is specified',
  },
  {
    name: 'all that is wrong at once',
    limits: [
      { type: 'Container', min: { cpu: '100m' }, maxLimitRequestRatio: { cpu: '2' } },
      { type: 'Pod', max: { memory: '1Gi' } },
    ],
    object: container({ requests: { cpu: '10m' }, limits: { cpu: '1', memory: '2Gi' } }),
    want: '[minimum cpu usage per Container is 100m, but request is 10m, cpu max limit to request ratio per Container is 2, but provided ratio is 100.000000, maximum memory usage per Pod is 1Gi, but limit is 2Gi]',
  },
  {
    name: 'a ratio of nothing',
    limits: [{ type: 'Container', maxLimitRequestRatio: { cpu: '2' } }],
    object: container({ limits: { cpu: '1' } }),
    want: 'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
  },
  {
    name: 'a Pod whose containers are too many together',
    limits: [{ type: 'Pod', max: { cpu: '1' } }],
    object: podOf({ containers: ['a', 'b'].map((name) => ({ name, resources: { limits: { cpu: '600m' } } })) }),
    want: 'maximum cpu usage per Pod is 1, but limit is 1200m',
  },
  {
    name: 'not what fits',
    limits: [{ type: 'Container', min: { cpu: '100m' }, max: { cpu: '1' } }],
    object: container({ requests: { cpu: '100m' }, limits: { cpu: '1000m' } }),
    want: undefined,
  },
])('refuses $name', async ({ limits, object, want }) => {
  const { refused } = await admitted(limitRanger(pluginParts({ known: ranges(...limits) })), { object });
  expect(refused).toBe(want);
});

const claim = (storage: string) => ({ metadata: { name: 'c' }, spec: { resources: { requests: { storage } } } });

it.each([
  {
    name: 'too large',
    storage: '2Gi',
    want: 'maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
  },
  {
    name: 'too small',
    storage: '1Ki',
    want: 'minimum storage usage per PersistentVolumeClaim is 1Mi, but request is 1Ki',
  },
  { name: 'just right', storage: '1Gi', want: undefined },
])('of claims, says that $storage is $name', async ({ storage, want }) => {
  const known = ranges({ type: 'PersistentVolumeClaim', min: { storage: '1Mi' }, max: { storage: '1Gi' } });
  const { refused } = await admitted(limitRanger(pluginParts({ known })), {
    of: '/persistentvolumeclaims',
    object: claim(storage),
  });
  expect(refused).toBe(want);
});

it.each([
  { of: '/pods/resize', refuses: true },
  { of: '/pods', refuses: false },
  { of: '/pods/status', refuses: false },
])('an update of $of is looked at: $refuses', async ({ of, refuses }) => {
  const known = ranges({ type: 'Container', max: { cpu: '1' } });
  const object = container({ limits: { cpu: '2' } });
  const { refused } = await admitted(limitRanger(pluginParts({ known })), { of, object, old: container({}) });
  expect(refused !== undefined).toBe(refuses);
});

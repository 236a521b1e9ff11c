import {
  admitted,
  attributesOf,
  KnownObjects,
  hooksOf,
  podOf,
  type Known,
  type WriteGiven,
} from '../../../test/harness/admission.js';
import { plainConfiguration } from '../configuration/admission-configuration.js';
import { resourceQuota } from './resource-quota.plugin.js';

const quota = (hard: object, used: object, more: { name?: string; spec?: object } = {}) => ({
  metadata: { name: more.name ?? 'q', namespace: 'ns' },
  spec: { hard, ...more.spec },
  status: { hard, used },
});
const quotas = (...items: ReturnType<typeof quota>[]): Known => ({ '/resourcequotas': items });
const sized = (cpu: string, more: object = {}) =>
  podOf({ containers: [{ name: 'c', resources: { requests: { cpu } } }], ...more });
const usedIn = (known: KnownObjects, name = 'q') =>
  (known.cached({ group: '', resource: 'resourcequotas' }, '', name)!['status'] as { used: object }).used;
const secret: WriteGiven = { of: '/secrets', object: { metadata: { name: 's' } } };
const claim = (storage: string, more: object = {}) => ({
  metadata: { name: 'c' },
  spec: { resources: { requests: { storage } }, ...more },
});
const service = (type: string, more: object = {}) => ({
  metadata: { name: 's' },
  spec: { type, ports: [{}, {}], ...more },
});

interface Row {
  readonly name: string;
  readonly hard: object;
  readonly used: object;
  readonly scope?: object;
  readonly write: WriteGiven;
  /** status.used after the request, or the error. */
  readonly want: object | string;
}

it.each<Row>([
  {
    name: 'objects as count/<resource>',
    hard: { 'count/secrets': '2' },
    used: { 'count/secrets': '1' },
    write: secret,
    want: { 'count/secrets': '2' },
  },
  {
    name: 'objects by the old name of the resource',
    hard: { secrets: '2' },
    used: { secrets: '0' },
    write: secret,
    want: { secrets: '1' },
  },
  {
    name: 'objects of custom kinds',
    hard: { 'count/widgets.example.com': '1' },
    used: { 'count/widgets.example.com': '0' },
    write: { of: 'example.com/widgets', object: { metadata: { name: 'w' } } },
    want: { 'count/widgets.example.com': '1' },
  },
  {
    name: 'an object beyond the limit: refused',
    hard: { secrets: '1' },
    used: { secrets: '1' },
    write: secret,
    want: 'exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1',
  },
  {
    name: 'no objects of other resources',
    hard: { secrets: '1' },
    used: { secrets: '1' },
    write: { of: '/configmaps', object: { metadata: {} } },
    want: { secrets: '1' },
  },
  {
    name: 'no Events',
    hard: { 'count/events': '0' },
    used: { 'count/events': '0' },
    write: { of: '/events', object: { metadata: {} } },
    want: { 'count/events': '0' },
  },
  {
    name: 'requests of Pods',
    hard: { pods: '3', 'requests.cpu': '1', cpu: '2' },
    used: { pods: '0', 'requests.cpu': '100m', cpu: '0' },
    write: { object: sized('400m') },
    want: { pods: '1', 'requests.cpu': '500m', cpu: '400m' },
  },
  {
    name: 'the largest of init containers, the sum of sidecars and containers, and overhead',
    hard: { 'requests.cpu': '9' },
    used: { 'requests.cpu': '0' },
    write: {
      object: podOf({
        initContainers: [
          { name: 'i', resources: { requests: { cpu: '3' } } },
          { name: 's', restartPolicy: 'Always', resources: { requests: { cpu: '2' } } },
        ],
        containers: ['a', 'b'].map((name) => ({ name, resources: { requests: { cpu: '1' } } })),
        overhead: { cpu: '100m' },
      }),
    },
    want: { 'requests.cpu': '4100m' },
  },
  {
    name: 'extended resources beyond the limit: refused',
    hard: { 'requests.example.com/gpu': '1' },
    used: { 'requests.example.com/gpu': '0' },
    write: { object: podOf({ containers: [{ name: 'c', resources: { requests: { 'example.com/gpu': '2' } } }] }) },
    want: 'exceeded quota: q, requested: requests.example.com/gpu=2, used: requests.example.com/gpu=0, limited: requests.example.com/gpu=1',
  },
  {
    name: 'Pods whose requests exceed the limit: refused',
    hard: { 'requests.cpu': '1', pods: '5' },
    used: { 'requests.cpu': '0', pods: '0' },
    write: { object: sized('2') },
    want: 'exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=0, limited: requests.cpu=1',
  },
  {
    name: 'Pods without limited requests and limits: refused',
    hard: { 'requests.cpu': '1', 'limits.memory': '1' },
    used: { 'requests.cpu': '0', 'limits.memory': '0' },
    write: { object: podOf({ containers: [{ name: 'b' }, { name: 'a' }] }) },
    want: 'failed quota: q: must specify limits.memory for: a,b; requests.cpu for: a,b',
  },
  {
    name: 'no updates of Pods',
    hard: { pods: '0' },
    used: { pods: '0' },
    write: { object: podOf(), old: podOf() },
    want: { pods: '0' },
  },
  {
    name: 'the increase of a resized Pod',
    hard: { 'requests.cpu': '2' },
    used: { 'requests.cpu': '1' },
    write: { of: '/pods/resize', object: sized('1500m'), old: sized('1') },
    want: { 'requests.cpu': '1500m' },
  },
  {
    name: 'Pods with a deadline in the scope Terminating',
    hard: { pods: '5' },
    used: { pods: '0' },
    scope: { scopes: ['Terminating'] },
    write: { object: podOf({ activeDeadlineSeconds: 5 }) },
    want: { pods: '1' },
  },
  {
    name: 'no Pods without a deadline in the scope Terminating',
    hard: { pods: '5' },
    used: { pods: '0' },
    scope: { scopes: ['Terminating'] },
    write: { object: podOf() },
    want: { pods: '0' },
  },
  {
    name: 'Pods without requests in the scope BestEffort',
    hard: { pods: '5' },
    used: { pods: '0' },
    scope: { scopes: ['BestEffort', 'NotTerminating'] },
    write: { object: podOf() },
    want: { pods: '1' },
  },
  {
    name: 'Pods with requests in the scope NotBestEffort',
    hard: { pods: '5' },
    used: { pods: '0' },
    scope: { scopes: ['NotBestEffort'] },
    write: { object: sized('1') },
    want: { pods: '1' },
  },
  {
    name: 'Pods of a selected priority class',
    hard: { pods: '5' },
    used: { pods: '0' },
    scope: { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] } },
    write: { object: podOf({ priorityClassName: 'high' }) },
    want: { pods: '1' },
  },
  {
    name: 'no Pods of a priority class that is excluded',
    hard: { pods: '5' },
    used: { pods: '0' },
    scope: {
      scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'NotIn', values: ['high'] }] },
    },
    write: { object: podOf({ priorityClassName: 'high' }) },
    want: { pods: '0' },
  },
  {
    name: 'Pods with cross-namespace affinity beyond the limit: refused',
    hard: { pods: '0' },
    used: { pods: '0' },
    scope: { scopes: ['CrossNamespacePodAffinity'] },
    write: {
      object: podOf({
        affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaceSelector: {} }] } },
      }),
    },
    want: 'exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0',
  },
  {
    name: 'load balancers and their node ports',
    hard: { services: '9', 'services.loadbalancers': '1', 'services.nodeports': '9' },
    used: { services: '1', 'services.loadbalancers': '0', 'services.nodeports': '1' },
    write: { of: '/services', object: service('LoadBalancer') },
    want: { services: '2', 'services.loadbalancers': '1', 'services.nodeports': '3' },
  },
  {
    name: 'node ports of a changed Service beyond the limit: refused',
    hard: { services: '1', 'services.nodeports': '1' },
    used: { services: '1', 'services.nodeports': '0' },
    write: { of: '/services', object: service('NodePort'), old: service('ClusterIP') },
    want: 'exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=0, limited: services.nodeports=1',
  },
  {
    name: 'a decrease, even above the limit',
    hard: { 'services.nodeports': '1' },
    used: { 'services.nodeports': '4' },
    write: { of: '/services', object: service('ClusterIP'), old: service('NodePort') },
    want: { 'services.nodeports': '2' },
  },
  {
    name: 'storage, in total and of a StorageClass',
    hard: {
      persistentvolumeclaims: '2',
      'requests.storage': '3Gi',
      'gold.storageclass.storage.k8s.io/requests.storage': '1Gi',
    },
    used: {
      persistentvolumeclaims: '0',
      'requests.storage': '1Gi',
      'gold.storageclass.storage.k8s.io/requests.storage': '0',
    },
    write: { of: '/persistentvolumeclaims', object: claim('1Gi', { storageClassName: 'gold' }) },
    want: {
      persistentvolumeclaims: '1',
      'requests.storage': '2Gi',
      'gold.storageclass.storage.k8s.io/requests.storage': '1Gi',
    },
  },
  {
    name: 'storage beyond the limit: refused',
    hard: { 'requests.storage': '2Gi' },
    used: { 'requests.storage': '0' },
    write: { of: '/persistentvolumeclaims', object: claim('3Gi') },
    want: 'exceeded quota: q, requested: requests.storage=3Gi, used: requests.storage=0, limited: requests.storage=2Gi',
  },
  {
    name: 'the increase of an expanded claim',
    hard: { 'requests.storage': '3Gi' },
    used: { 'requests.storage': '1Gi' },
    write: { of: '/persistentvolumeclaims', object: claim('2Gi'), old: claim('1Gi') },
    want: { 'requests.storage': '2Gi' },
  },
  {
    name: 'no objects before status.used is known: refused',
    hard: { secrets: '1' },
    used: {},
    write: secret,
    want: 'status unknown for quota: q, resources: secrets',
  },
  {
    name: 'nothing in a dry run',
    hard: { secrets: '2' },
    used: { secrets: '1' },
    write: { ...secret, dryRun: true },
    want: { secrets: '1' },
  },
  {
    name: 'beyond the limit in a dry run: refused',
    hard: { secrets: '1' },
    used: { secrets: '1' },
    write: { ...secret, dryRun: true },
    want: 'exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1',
  },
])('counts $name', async ({ hard, used, scope, write, want }) => {
  const known = new KnownObjects(quotas(quota(hard, used, { ...(scope && { spec: scope }) })));
  const { refused } = await admitted(hooksOf(resourceQuota, { known }), write);
  if (typeof want === 'string') expect(refused).toBe(want);
  else expect([refused, usedIn(known)]).toEqual([undefined, want]);
});

it('charges no quota if another one refuses', async () => {
  const known = new KnownObjects(
    quotas(
      quota({ secrets: '5' }, { secrets: '1' }, { name: 'a' }),
      quota({ secrets: '1' }, { secrets: '1' }, { name: 'b' }),
    ),
  );
  const { refused } = await admitted(hooksOf(resourceQuota, { known }), secret);
  expect(refused).toMatch(/^exceeded quota: b,/);
  expect(usedIn(known, 'a')).toEqual({ secrets: '1' });
});

it('spec.hard does not limit before status.hard has it', async () => {
  const known = {
    '/resourcequotas': [{ metadata: { name: 'q', namespace: 'ns' }, spec: { hard: { secrets: '0' } }, status: {} }],
  };
  expect((await admitted(hooksOf(resourceQuota, { known }), secret)).refused).toBeUndefined();
});

describe('an update of a Pod that changes the matching quotas', () => {
  const terminating = { scopes: ['Terminating'] };
  const lasting = { scopes: ['NotTerminating'] };
  const bounded = sized('400m', { activeDeadlineSeconds: 60 });
  const update = (object: WriteGiven['object'], old: WriteGiven['old']): WriteGiven => ({
    ...(object && { object }),
    ...(old && { old }),
  });

  it('charges the newly matching quota with the whole usage', async () => {
    const known = new KnownObjects(
      quotas(
        quota(
          { pods: '1', 'requests.cpu': '1' },
          { pods: '0', 'requests.cpu': '0' },
          { name: 'new', spec: terminating },
        ),
        quota({ pods: '5' }, { pods: '1' }, { name: 'before', spec: lasting }),
      ),
    );
    const { refused } = await admitted(hooksOf(resourceQuota, { known }), update(bounded, sized('400m')));
    expect([refused, usedIn(known, 'new'), usedIn(known, 'before')]).toEqual([
      undefined,
      { pods: '1', 'requests.cpu': '400m' },
      { pods: '1' },
    ]);
  });

  it('is refused if it exceeds the newly matching quota', async () => {
    const known = quotas(quota({ pods: '1' }, { pods: '1' }, { spec: terminating }));
    const { refused } = await admitted(hooksOf(resourceQuota, { known }), update(bounded, sized('400m')));
    expect(refused).toBe('exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1');
  });

  it('charges nothing if the same scopes match', async () => {
    const known = quotas(quota({ pods: '1' }, { pods: '1' }, { spec: lasting }));
    const { refused } = await admitted(hooksOf(resourceQuota, { known }), update(sized('400m'), sized('400m')));
    expect(refused).toBeUndefined();
  });
});

it.each([
  { name: 'charges again after three conflicts', conflicts: 3, want: undefined },
  {
    name: 'answers Conflict after eight attempts',
    conflicts: 99,
    want: /the quota q is charged by many requests at once: .*secrets=1$/,
  },
])('$name', async ({ conflicts, want }) => {
  const known = new KnownObjects(quotas(quota({ secrets: '5' }, { secrets: '1' })));
  known.conflicts = conflicts;
  const { refused } = await admitted(hooksOf(resourceQuota, { known }), secret);
  if (want) expect(refused).toMatch(want);
  else expect([refused, usedIn(known)]).toEqual([undefined, { secrets: '2' }]);
});

describe('an update that is attempted again after a conflict', () => {
  const before = service('ClusterIP');
  const opened = service('NodePort');
  const used = { services: '3', 'services.nodeports': '4' };
  /** Charges for each state of the object that an attempt found. */
  const usedAfter = async (...found: readonly NonNullable<WriteGiven['old']>[]) => {
    const known = new KnownObjects(quotas(quota({ services: '9', 'services.nodeports': '9' }, used)));
    const plugin = hooksOf(resourceQuota, { known });
    const write = {};
    for (const old of found) {
      await plugin.validate!({ ...attributesOf({ of: '/services', object: opened, old }), write });
    }
    return usedIn(known);
  };

  it('is charged once', async () => {
    expect(await usedAfter(before, before, before)).toEqual({ ...used, 'services.nodeports': '6' });
  });

  it('is not charged if another writer has made the same change meanwhile', async () => {
    expect(await usedAfter(before, opened)).toEqual(used);
  });

  it('is charged the difference to the newer object', async () => {
    const other = service('NodePort', { ports: [{}] });
    expect(await usedAfter(before, other)).toEqual({ ...used, 'services.nodeports': '5' });
  });
});

it('does not refuse by a stale cached quota if the stored one has room', async () => {
  const known = new KnownObjects(quotas(quota({ secrets: '5' }, { secrets: '1' })));
  known.staleQuotas = new KnownObjects(quotas(quota({ secrets: '1' }, { secrets: '1' }))).list(
    { group: '', resource: 'resourcequotas' },
    'ns',
  );
  const { refused } = await admitted(hooksOf(resourceQuota, { known }), secret);
  expect([refused, usedIn(known)]).toEqual([undefined, { secrets: '2' }]);
});

describe('a limitedResource of the configuration', () => {
  const limited = {
    group: '',
    resource: 'pods',
    matchContains: ['.example.com/'],
    matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
  };
  const configuration = { ...plainConfiguration, quota: { limitedResources: [limited] } };
  const high = podOf({ priorityClassName: 'high' });
  const scope = {
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] },
  };

  it.each([
    {
      name: 'is refused without a quota',
      known: {},
      object: high,
      want: 'insufficient quota to match these scopes: [{PriorityClass In [high]}]',
    },
    {
      name: 'is accepted with a quota that covers it',
      known: quotas(quota({ pods: '1' }, { pods: '0' }, { spec: scope })),
      object: high,
      want: undefined,
    },
    { name: 'does not restrict other Pods', known: {}, object: podOf(), want: undefined },
  ])('$name', async ({ known, object, want }) => {
    expect((await admitted(hooksOf(resourceQuota, { known, configuration }), { object })).refused).toBe(want);
  });
});

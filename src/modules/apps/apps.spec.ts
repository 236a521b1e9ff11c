import { prepared, refusals, testContext, texts, updateRefusals } from '../../../test/harness/strategies.js';
import { namingProfile } from '../../config/naming-profile.js';
import { apiGroupsOf } from '../../registry/apis/api-group.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { AppsGroup } from './apps.group.js';
import { appsResources } from './apps.resources.js';

const found = new Map(appsResources.map((definition) => [definition.kind, definition]));
const pod = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } };
const good = { selector: { matchLabels: { app: 'a' } }, template: pod };
const made = (kind: string, spec: object, metadata: object = {}): KubeObject => ({
  kind,
  apiVersion: 'apps/v1',
  metadata: { name: 'x', ...metadata },
  spec: structuredClone(spec),
});
const mounting = (name: string, volumes: string[]) => ({
  ...pod,
  spec: {
    containers: [{ ...pod.spec.containers[0], volumeMounts: [{ name, mountPath: '/v' }] }],
    volumes: volumes.map((volume) => ({ name: volume, emptyDir: {} })),
  },
});
const claim = (name: string) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
const strategyOf = (kind: string) => found.get(kind)!.strategy;
const refused = (kind: string, spec: object) => refusals(strategyOf(kind), made(kind, spec));
const statusSubresourceOf = (kind: string) => {
  const lens = found.get(kind)!.subresources['status'];
  if (lens?.type !== 'view') throw new Error('no status');
  return lens;
};

it('v1 is the only version, and all kinds have a table', () => {
  const [group, ...others] = apiGroupsOf(new AppsGroup(), namingProfile('kubernetes'));
  expect([group!.group, group!.version, others]).toEqual(['apps', 'v1', []]);
  for (const { table, kind } of appsResources) {
    expect(table.cells(made(kind, {}), { nowMs: 0 })).toHaveLength(table.columns.length);
  }
});

it.each<[string, object, object]>([
  [
    'Deployment',
    good,
    {
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    },
  ],
  ['Deployment', { ...good, strategy: { type: 'Recreate' } }, { strategy: { type: 'Recreate' } }],
  ['ReplicaSet', { ...good, replicas: 0 }, { replicas: 0 }],
  [
    'StatefulSet',
    { ...good, updateStrategy: { rollingUpdate: {} } },
    {
      replicas: 1,
      serviceName: '',
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 10,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    },
  ],
  [
    'DaemonSet',
    good,
    {
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 10,
    },
  ],
])('a %s of %j is defaulted to %j', (kind, given, want) => {
  const { spec } = prepared(strategyOf(kind), made(kind, given));
  expect(spec).toMatchObject(want);
  expect((spec as { template: { spec: object } }).template.spec).toMatchObject({
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    terminationGracePeriodSeconds: 30,
  });
});

it.each<[string, object]>([
  ['Deployment', {}],
  ['ReplicaSet', { replicas: 0 }],
  ['StatefulSet', { replicas: 0, availableReplicas: 0 }],
  ['DaemonSet', { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }],
])('a new %s has the status %j, whatever was submitted', (kind, want) =>
  expect(prepared(strategyOf(kind), { ...made(kind, good), status: { replicas: 7 } })['status']).toEqual(want),
);

const noMatch =
  'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`';
const badSelector = { matchExpressions: [{ key: 'a', operator: 'In' }] };
it.each<[string, object, string[]]>([
  ['StatefulSet', { ...good, template: mounting('data', []), volumeClaimTemplates: [claim('data')] }, []],
  ['StatefulSet', { ...good, template: mounting('data', ['data', 'b']), volumeClaimTemplates: [claim('data')] }, []],
  [
    'StatefulSet',
    { ...good, template: mounting('logs', []), volumeClaimTemplates: [claim('data')] },
    ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "logs"'],
  ],
  ['Deployment', good, []],
  ['Deployment', { template: pod }, ['spec.selector: Required value', noMatch]],
  [
    'Deployment',
    { ...good, selector: {} },
    ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  ],
  ['Deployment', { ...good, selector: { matchLabels: { app: 'b' } } }, [noMatch]],
  [
    'Deployment',
    { ...good, selector: badSelector },
    [
      "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      `spec.selector: Invalid value: ${JSON.stringify(badSelector)}: invalid label selector`,
    ],
  ],
  [
    'Deployment',
    { ...good, strategy: { type: 'Odd' } },
    [
      'spec.strategy: Unsupported value: {"Type":"Odd","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
    ],
  ],
  [
    'Deployment',
    { ...good, strategy: { type: 'Recreate', rollingUpdate: {} } },
    ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  ],
  [
    'Deployment',
    { ...good, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } },
    ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
  ],
  [
    'Deployment',
    { ...good, strategy: { rollingUpdate: { maxUnavailable: '101%' } } },
    ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
  ],
  [
    'Deployment',
    { ...good, minReadySeconds: 600 },
    ['spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds'],
  ],
  ['ReplicaSet', { ...good, replicas: -1 }, ['spec.replicas: Invalid value: -1: must be greater than or equal to 0']],
  [
    'ReplicaSet',
    { ...good, template: { ...pod, spec: { ...pod.spec, restartPolicy: 'Never', activeDeadlineSeconds: 5 } } },
    [
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
    ],
  ],
  [
    'StatefulSet',
    { ...good, podManagementPolicy: 'Odd' },
    [`spec.podManagementPolicy: Invalid value: "Odd": must be 'OrderedReady' or 'Parallel'`],
  ],
  [
    'StatefulSet',
    { ...good, updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
    [
      `spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy 'RollingUpdate'`,
    ],
  ],
  [
    'StatefulSet',
    { ...good, updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
    ['spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0'],
  ],
  [
    'StatefulSet',
    { ...good, persistentVolumeClaimRetentionPolicy: { whenScaled: 'Odd' } },
    [
      'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Odd": supported values: "Retain", "Delete"',
    ],
  ],
  [
    'StatefulSet',
    { ...good, volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: {} }] },
    [
      'spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required',
      'spec.volumeClaimTemplates[0].spec.resources[storage]: Required value',
    ],
  ],
  ['DaemonSet', { template: pod }, [noMatch]],
  [
    'DaemonSet',
    { ...good, updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
    ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
  ],
  [
    'DaemonSet',
    { ...good, updateStrategy: { rollingUpdate: { maxSurge: '10%' } } },
    [
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "10%": may not be set when maxUnavailable is non-zero',
    ],
  ],
])('a %s of %j is validated', (kind, spec, want) => expect(refused(kind, spec)).toEqual(want));

const otherPods = { ...pod, metadata: { labels: { app: 'b' } } };
it.each<[string, object, string[]]>([
  ['Deployment', { ...good, replicas: 3 }, []],
  [
    'Deployment',
    { selector: { matchLabels: { app: 'b' } }, template: otherPods },
    ['spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable'],
  ],
  ['StatefulSet', { ...good, replicas: 3, ordinals: { start: 1 }, minReadySeconds: 1 }, []],
  [
    'StatefulSet',
    { ...good, serviceName: 's' },
    [
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ],
  ],
])('an update of a %s to %j is validated', (kind, spec, want) =>
  expect(updateRefusals(strategyOf(kind), made(kind, spec), made(kind, good))).toEqual(want),
);

it.each<[string, object, string[]]>([
  ['Deployment', { replicas: 2, readyReplicas: 2, availableReplicas: 1 }, []],
  [
    'Deployment',
    { replicas: 1, readyReplicas: 2 },
    ['status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas'],
  ],
  [
    'ReplicaSet',
    { replicas: 2, readyReplicas: 1, availableReplicas: 2 },
    ['status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas'],
  ],
  ['DaemonSet', { numberReady: -1 }, ['status.numberReady: Invalid value: -1: must be greater than or equal to 0']],
  ['DaemonSet', { collisionCount: 0 }, ['status.collisionCount: Invalid value: 0: cannot be decremented']],
])('the status of a %s, %j, is validated', (kind, status, want) => {
  const old = { ...made(kind, good), status: { collisionCount: 1 } };
  const now = { ...old, status: { collisionCount: 1, ...status } };
  expect(texts(statusSubresourceOf(kind).validate!(now, old, testContext))).toEqual(want);
});

it('an annotation of a DaemonSet counts the changes of its template', () => {
  const { default: defaults, prepareForUpdate } = strategyOf('DaemonSet');
  const key = 'deprecated.daemonset.template.generation';
  const old = prepared(strategyOf('DaemonSet'), made('DaemonSet', good));
  const changed = (spec: object) => {
    const next = made('DaemonSet', spec, { annotations: { [key]: '9' } });
    defaults!(next);
    prepareForUpdate!(next, old, testContext);
    return next.metadata.annotations?.[key];
  };
  expect(old.metadata.annotations).toEqual({ [key]: '1' });
  expect(changed({ ...good, minReadySeconds: 1 })).toBe('1');
  expect(changed({ ...good, template: { ...pod, spec: { containers: [{ name: 'c', image: 'x' }] } } })).toBe('2');
});

it('a change of annotations increments the generation of a Deployment', () => {
  const old = made('Deployment', good, { generation: 4 });
  const next = made('Deployment', good, { generation: 4, annotations: { a: 'b' } });
  strategyOf('Deployment').prepareForUpdate!(next, old, testContext);
  expect(next.metadata.generation).toBe(5);
});

it.each<[string, object, object, (string | number)[]]>([
  [
    'Deployment',
    { ...good, replicas: 3 },
    { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 },
    ['x', '2/3', 3, 1, '<unknown>', 'c', 'nginx', 'app=a'],
  ],
  ['ReplicaSet', { ...good, replicas: 3 }, { replicas: 2 }, ['x', 3, 2, 0, '<unknown>', 'c', 'nginx', 'app=a']],
  ['StatefulSet', { ...good, replicas: 2 }, { readyReplicas: 1 }, ['x', '1/2', '<unknown>', 'c', 'nginx']],
  [
    'DaemonSet',
    good,
    { desiredNumberScheduled: 3, numberReady: 1 },
    ['x', 3, 0, 1, 0, 0, '<none>', '<unknown>', 'c', 'nginx', 'app=a'],
  ],
])('the table row of a %s', (kind, spec, status, want) =>
  expect(found.get(kind)!.table.cells({ ...made(kind, spec), status }, { nowMs: 0 })).toEqual(want),
);

it.each<[object, string[]]>([
  [{ revision: 1, data: { a: 1 } }, []],
  [{ revision: 1 }, ['data: Required value: data is mandatory']],
  [{ revision: -1, data: {} }, ['revision: Invalid value: -1: must be greater than or equal to 0']],
])('a ControllerRevision of %j is validated', (rest, want) => {
  const revision = { kind: 'ControllerRevision', apiVersion: 'apps/v1', metadata: { name: 'x' }, ...rest };
  expect(refusals(strategyOf('ControllerRevision'), revision)).toEqual(want);
});

it('the table row of a ControllerRevision names its controller', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'u', controller: true };
  const revision = made('ControllerRevision', {}, { ownerReferences: [owner] });
  const cells = found.get('ControllerRevision')!.table.cells({ ...revision, revision: 3 }, { nowMs: 0 });
  expect(cells).toEqual(['x', 'statefulset.apps/db', 3, '<unknown>']);
});

it('a name that is not a DNS label is warned of on create only', () => {
  const { warnings } = strategyOf('Deployment');
  const named = made('Deployment', good, { name: 'a.b', generation: 1 });
  expect(warnings!(named, undefined)).toEqual([
    'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]',
  ]);
  expect(warnings!(named, named)).toEqual([]);
});

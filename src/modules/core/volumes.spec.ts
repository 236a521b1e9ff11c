import {
  prepared,
  prepareUpdate,
  refusals,
  testContext,
  texts,
  updateRefusals,
} from '../../../test/harness/strategies.js';
import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import {
  persistentVolumeClaimStatusSubresource,
  persistentVolumeClaimStrategy,
} from './persistent-volume-claim.strategy.js';
import { persistentVolumeClaimTable } from './persistent-volume-claim.table.js';
import { persistentVolumeStatusSubresource, persistentVolumeStrategy } from './persistent-volume.strategy.js';
import { persistentVolumeTable } from './persistent-volume.table.js';

const naming = namingProfile('kubernetes');
const claims = persistentVolumeClaimStrategy(naming);
const requests = (storage: string) => ({ resources: { requests: { storage } } });
const claim = (spec: object, metadata: object = {}): KubeObject => ({
  kind: 'PersistentVolumeClaim',
  apiVersion: 'v1',
  metadata: { name: 'c', ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], ...requests('1Gi'), ...structuredClone(spec) },
});
const volume = (spec: object): KubeObject => ({
  kind: 'PersistentVolume',
  apiVersion: 'v1',
  metadata: { name: 'v' },
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, ...structuredClone(spec) },
});
const onHost = { hostPath: { path: '/x' } };

const source = { kind: 'PersistentVolumeClaim', name: 'src' };
it.each<[object, object]>([
  [requests('1.5Gi'), { ...requests('1536Mi'), volumeMode: 'Filesystem' }],
  [{ dataSource: source }, { dataSource: { apiGroup: null, ...source }, dataSourceRef: { apiGroup: null, ...source } }],
  [{ dataSourceRef: source }, { dataSource: { apiGroup: null, ...source } }],
])('create of a claim with spec %j defaults %j', (spec, want) =>
  expect(prepared(claims, claim(spec))['spec']).toMatchObject(want),
);

it('dataSource of an unsupported kind is dropped', () =>
  expect(prepared(claims, claim({ dataSource: { kind: 'Pod', name: 'p' } }))['spec']).not.toHaveProperty('dataSource'));

it.each<[object, string[]]>([
  [{}, []],
  [{ accessModes: [] }, ['spec.accessModes: Required value: at least 1 access mode is required']],
  [
    { accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] },
    ['spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes'],
  ],
  [{ resources: {} }, ['spec.resources[storage]: Required value']],
  [requests('0'), ['spec.resources[storage]: Invalid value: "0": must be greater than zero']],
  [{ volumeMode: 'Odd' }, ['spec.volumeMode: Unsupported value: "Odd": supported values: "Block", "Filesystem"']],
  [
    { dataSource: source, dataSourceRef: { ...source, name: 'other' } },
    ['spec: Invalid value: {}: must match dataSourceRef'],
  ],
])('create of a claim with spec %j is validated', (spec, want) => expect(refusals(claims, claim(spec))).toEqual(want));

const immutableSpec = expect.stringMatching(
  /^spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ /,
) as string;
it.each<[string, object, object, object, string[]]>([
  ['volumeName can be set', {}, { volumeName: 'v' }, {}, []],
  ['storageClassName can be set', {}, { storageClassName: 's' }, {}, []],
  ['storageClassName cannot be changed', { storageClassName: 'a' }, { storageClassName: 'b' }, {}, [immutableSpec]],
  ['an unbound claim cannot grow', {}, requests('2Gi'), {}, [immutableSpec]],
  ['a bound claim can grow', {}, requests('2Gi'), { phase: 'Bound', capacity: { storage: '1Gi' } }, []],
  [
    'a bound claim cannot shrink below its capacity',
    requests('2Gi'),
    requests('1Gi'),
    { phase: 'Bound', capacity: { storage: '2Gi' } },
    ['spec.resources.requests.storage: Forbidden: field can not be less than status.capacity'],
  ],
  [
    'a failed expansion can be reverted',
    requests('3Gi'),
    requests('2Gi'),
    { phase: 'Bound', capacity: { storage: '1Gi' } },
    [],
  ],
  [
    'volumeMode cannot be changed',
    {},
    { volumeMode: 'Block' },
    {},
    [immutableSpec, 'volumeMode: Invalid value: "Block": field is immutable'],
  ],
])('in an update, %s', (_case, before, after, status, want) => {
  const old = { ...prepared(claims, claim(before)), status };
  const next = claim(after);
  claims.default!(next);
  prepareUpdate(claims, next, old);
  expect(texts(claims.validateUpdate!(next, old, testContext))).toEqual(want);
});

describe('update of a claim', () => {
  const annotation = 'volume.beta.kubernetes.io/storage-class';
  const immutableAt = (value: string) =>
    `metadata.annotations.${annotation}: Invalid value: "${value}": field is immutable`;
  const annotated = (value: string | undefined, spec: object = {}) =>
    claim(spec, value === undefined ? {} : { annotations: { [annotation]: value } });
  const change = (before: KubeObject, after: KubeObject, status: object = {}) => {
    const old = { ...prepared(claims, before), status };
    claims.default!(after);
    prepareUpdate(claims, after, old);
    return texts(claims.validateUpdate!(after, old, testContext));
  };

  // prettier-ignore
  it.each([
    ['a', {}, 'a', {}, []],
    ['a', {}, 'b', {}, [immutableAt('b')]],
    ['a', {}, undefined, {}, [immutableAt('')]],
    [undefined, {}, 'a', {}, [immutableAt('a')]],
    ['a', {}, 'a', { storageClassName: 'a' }, []],
    ['a', {}, undefined, { storageClassName: 'a' }, []],
  ])('from annotation %j and spec %j to annotation %j and spec %j', (from, before, to, after, want) =>
    expect(change(annotated(from, before), annotated(to, after))).toEqual(want),
  );

  it.each([
    ['nil', undefined],
    ['empty string', ''],
  ])('cannot remove a VolumeAttributesClass in use: %s', (shown, to) => {
    const status = { phase: 'Bound', currentVolumeAttributesClassName: 'gold' };
    const classOf = (name?: string) => claim(name === undefined ? {} : { volumeAttributesClassName: name });
    expect(change(classOf('gold'), classOf(to), status)).toEqual([
      `spec.volumeAttributesClassName: Forbidden: update to ${shown} is forbidden when status.currentVolumeAttributesClassName is not nil`,
    ]);
    expect(change(classOf('gold'), classOf('silver'), status)).toEqual([]);
    expect(change(classOf(to), classOf(to), status)).toEqual([]);
  });
});

it('claim status with a negative capacity is rejected', () => {
  const negative = { ...claim({}), status: { capacity: { storage: '-1' } } };
  expect(texts(persistentVolumeClaimStatusSubresource.validate!(negative, negative, testContext))).toEqual([
    'status.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
  ]);
});

const csi = (more: object = {}) => ({ csi: { driver: 'd.example.com', volumeHandle: 'h', ...more } });
const secret = { name: 's', namespace: 'n' };
const fixedSource = expect.stringContaining('spec.persistentvolumesource is immutable after creation') as string;

it('create of a volume sets defaults and phase Pending', () => {
  const { spec, status } = prepared(persistentVolumeStrategy, volume(onHost));
  expect(status).toEqual({ phase: 'Pending', lastPhaseTransitionTime: testContext.now });
  expect(spec).toMatchObject({
    persistentVolumeReclaimPolicy: 'Retain',
    volumeMode: 'Filesystem',
    hostPath: { path: '/x', type: '' },
  });
});

it.each<[object, string[]]>([
  [onHost, []],
  [{}, ['spec: Required value: must specify a volume type']],
  [{ ...onHost, nfs: { server: 's', path: '/p' } }, ['spec.nfs: Forbidden: may not specify more than 1 volume type']],
  [
    { ...onHost, capacity: {} },
    ['spec.capacity: Required value', 'spec.capacity: Unsupported value: {}: supported values: "storage"'],
  ],
  [
    { ...onHost, capacity: { storage: '0' } },
    ['spec.capacity[storage]: Invalid value: "0": must be greater than zero'],
  ],
  [{ local: { path: '/x' } }, ['spec.nodeAffinity: Required value: Local volume requires node affinity']],
  [
    { ...onHost, nodeAffinity: { required: { nodeSelectorTerms: [] } } },
    ['spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term'],
  ],
  [{ csi: { driver: 'd.example.com' } }, ['spec.csi.volumeHandle: Required value']],
  [
    {
      csi: { driver: 'd.example.com', volumeHandle: 'h', nodeStageSecretRef: {}, nodePublishSecretRef: { name: 'n' } },
    },
    ['spec.csi.nodePublishSecretRef.namespace: Required value'],
  ],
  [
    { hostPath: { path: '/' }, persistentVolumeReclaimPolicy: 'Recycle' },
    ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
  ],
])('create of a volume with spec %j is validated', (spec, want) =>
  expect(refusals(persistentVolumeStrategy, volume(spec))).toEqual(want),
);

it.each<[object, string[]]>([
  [{ ...onHost, persistentVolumeReclaimPolicy: 'Delete' }, []],
  [
    { hostPath: { path: '/y' } },
    [
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n' +
        '@@ -2,7 +2,7 @@\n  "GCEPersistentDisk": null,\n  "AWSElasticBlockStore": null,\n  "HostPath": {\n' +
        '-  "Path": "/x",\n+  "Path": "/y",\n   "Type": ""\n  },\n  "Glusterfs": null,\n',
    ],
  ],
  [{ ...onHost, volumeMode: 'Block' }, ['volumeMode: Invalid value: "Block": field is immutable']],
])('update of a volume to %j', (spec, want) =>
  expect(updateRefusals(persistentVolumeStrategy, volume(spec), volume(onHost))).toEqual(want),
);

it.each<[object, string | undefined]>([
  [{ phase: 'Pending' }, undefined],
  [{ phase: 'Bound' }, testContext.now],
  [{ phase: 'Bound', lastPhaseTransitionTime: '2020-01-01T00:00:00Z' }, '2020-01-01T00:00:00Z'],
])('lastPhaseTransitionTime of volume status %j', (status, want) => {
  const old = { ...volume(onHost), status: { phase: 'Pending' } };
  const next: KubeObject = { ...old, status: { ...status } };
  persistentVolumeStatusSubresource.prepare!(next, old, testContext);
  expect((next['status'] as Record<string, unknown>)['lastPhaseTransitionTime']).toBe(want);
});

it('create of a volume with a removed plug-in is warned of', () =>
  expect(persistentVolumeStrategy.warnings!(volume({ rbd: {} }), undefined)).toEqual([
    'spec.rbd: deprecated in v1.28, non-functional in v1.31+',
  ]));

it.each<[string, object, object, unknown[]]>([
  ['a first controllerExpandSecretRef', csi(), csi({ controllerExpandSecretRef: secret }), []],
  [
    'another controllerExpandSecretRef',
    csi({ controllerExpandSecretRef: secret }),
    csi({ controllerExpandSecretRef: { ...secret, name: 'x' } }),
    [fixedSource],
  ],
  [
    'another volumeHandle with a first controllerExpandSecretRef',
    csi(),
    csi({ controllerExpandSecretRef: secret, volumeHandle: 'x' }),
    [fixedSource],
  ],
  [
    'another VolumeAttributesClass',
    { ...onHost, volumeAttributesClassName: 'a' },
    { ...onHost, volumeAttributesClassName: 'b' },
    [],
  ],
  [
    'no VolumeAttributesClass',
    { ...onHost, volumeAttributesClassName: 'a' },
    onHost,
    ['spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden'],
  ],
])('update of a volume to %s', (_case, before, after, want) => {
  const [old, next] = [
    prepared(persistentVolumeStrategy, volume(before)),
    prepared(persistentVolumeStrategy, volume(after)),
  ];
  expect(texts(persistentVolumeStrategy.validateUpdate!(next, old, testContext))).toEqual(want);
});

it('table rows of a claim and of a volume', () => {
  const bound = {
    ...claim({ volumeName: 'v', storageClassName: 'fast', volumeMode: 'Block' }),
    status: { phase: 'Bound', capacity: { storage: '2Gi' }, accessModes: ['ReadWriteMany', 'ReadWriteOnce'] },
  };
  expect(persistentVolumeClaimTable(naming).cells(bound, { nowMs: 0 })).toEqual([
    'c',
    'Bound',
    'v',
    '2Gi',
    'RWO,RWX',
    'fast',
    '<unset>',
    '<unknown>',
    'Block',
  ]);
  const free = { ...volume({ claimRef: { namespace: 'n', name: 'c' } }), status: { phase: 'Available' } };
  expect(persistentVolumeTable(naming).cells(free, { nowMs: 0 })).toEqual([
    'v',
    '1Gi',
    'RWO',
    '',
    'Available',
    'n/c',
    '',
    '<unset>',
    '',
    '<unknown>',
    '<unset>',
  ]);
});

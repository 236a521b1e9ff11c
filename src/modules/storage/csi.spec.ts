import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, testContext, updateRefusals } from '../../../test/harness/strategies.js';
import { csiDriverStrategy } from './csi-driver.strategy.js';
import { csiDriverTable } from './csi-driver.table.js';
import { csiNodeStrategy } from './csi-node.strategy.js';
import { csiNodeTable } from './csi-node.table.js';
import { csiStorageCapacityStrategy } from './csi-storage-capacity.strategy.js';

const object = (kind: string, fields: object): KubeObject => ({
  kind,
  apiVersion: 'storage.k8s.io/v1',
  metadata: { name: 'c' },
  ...fields,
});

describe('CSIDriver', () => {
  const driver = (spec: object) => object('CSIDriver', { spec });

  it.each<[string, object, string[]]>([
    ['no fields', {}, []],
    ['token requests', { tokenRequests: [{ audience: 'a' }, { audience: 'b', expirationSeconds: 600 }] }, []],
    [
      'an unknown fsGroupPolicy',
      { fsGroupPolicy: 'X' },
      ['spec.fsGroupPolicy: Unsupported value: "X": supported values: "File", "None", "ReadWriteOnceWithFSType"'],
    ],
    [
      'an unknown lifecycle mode',
      { volumeLifecycleModes: ['X'] },
      ['spec.volumeLifecycleModes: Unsupported value: "X": supported values: "Persistent", "Ephemeral"'],
    ],
    [
      'a token of less than 10 minutes',
      { tokenRequests: [{ expirationSeconds: 599 }] },
      ['spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes'],
    ],
    [
      'a token of more than 2^32 seconds',
      { tokenRequests: [{ expirationSeconds: 2 ** 32 + 1 }] },
      [
        'spec.tokenRequests[0].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
      ],
    ],
    [
      'two requests of one audience',
      { tokenRequests: [{ audience: 'a' }, { audience: 'a' }] },
      ['spec.tokenRequests[1].audience: Duplicate value: "a"'],
    ],
    [
      'a period of less than 10 seconds',
      { nodeAllocatableUpdatePeriodSeconds: 9 },
      ['spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds'],
    ],
  ])('a CSIDriver with %s is validated', (_name, spec, want) =>
    expect(refusals(csiDriverStrategy, driver(spec))).toEqual(want),
  );

  it.each<[object, string[]]>([
    [{ requiresRepublish: true, fsGroupPolicy: 'File' }, []],
    [{ attachRequired: false }, ['spec.attachedRequired: Invalid value: false: field is immutable']],
    [
      { volumeLifecycleModes: ['Ephemeral'] },
      ['spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable'],
    ],
  ])('an update of a CSIDriver to %j is validated', (spec, want) =>
    expect(updateRefusals(csiDriverStrategy, driver(spec), driver({}))).toEqual(want),
  );

  it('a CSIDriver has a generation after its first change', () => {
    const old = prepared(csiDriverStrategy, driver({}));
    expect(old.metadata.generation).toBeUndefined();
    const same = structuredClone(old);
    csiDriverStrategy.prepareForUpdate!(same, old, testContext);
    expect(same.metadata.generation).toBeUndefined();
    const changed = prepared(csiDriverStrategy, driver({ requiresRepublish: true }));
    csiDriverStrategy.prepareForUpdate!(changed, old, testContext);
    expect(changed.metadata.generation).toBe(1);
  });

  it.each<[object, number]>([
    [{}, 0],
    [{ tokenRequests: [{ audience: 'a' }] }, 1],
    [{ tokenRequests: [{ audience: 'a' }], serviceAccountTokenInSecrets: false }, 0],
  ])('spec %j has %d warnings', (spec, count) =>
    expect(csiDriverStrategy.warnings!(driver(spec), undefined)).toHaveLength(count),
  );

  it.each<[object, unknown[]]>([
    [{}, ['c', true, false, false, '<unset>', false, 'Persistent', '<unknown>']],
    [
      { attachRequired: false, tokenRequests: [{ audience: 'a' }, { audience: 'b' }], requiresRepublish: true },
      ['c', false, false, false, 'a,b', true, 'Persistent', '<unknown>'],
    ],
  ])('the table row of spec %j', (spec, want) =>
    expect(csiDriverTable.cells(prepared(csiDriverStrategy, driver(spec)), { nowMs: 0 })).toEqual(want),
  );
});

describe('CSINode', () => {
  const node = (...drivers: object[]) => object('CSINode', { spec: { drivers } });
  const driver = { name: 'csi.example.com', nodeID: 'n', topologyKeys: ['example.com/zone'] };

  it.each<[string, KubeObject, string[]]>([
    ['no driver', node(), []],
    ['a driver', node({ ...driver, allocatable: { count: 5 } }), []],
    ['no name', node({ ...driver, name: '' }), ['spec.drivers[0].name: Required value']],
    ['no id', node({ ...driver, nodeID: '' }), ['spec.drivers[0].nodeID: Required value']],
    ['two drivers of one name', node(driver, driver), ['spec.drivers[1].name: Duplicate value: "csi.example.com"']],
    [
      'a negative count',
      node({ ...driver, allocatable: { count: -1 } }),
      ['spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'one topology key twice',
      node({ ...driver, topologyKeys: ['a', 'a'] }),
      ['spec.drivers[0].topologyKeys: Duplicate value: "a"'],
    ],
  ])('validates a CSINode with %s', (_name, csiNode, want) => expect(refusals(csiNodeStrategy, csiNode)).toEqual(want));

  it.each<[string, KubeObject, number]>([
    ['another driver', node({ ...driver, name: 'other' }), 0],
    ['another allocatable count', node({ ...driver, allocatable: { count: 1 } }), 0],
    ['another node ID', node({ ...driver, nodeID: 'm' }), 1],
  ])('validates a CSINode update: %s', (_name, csiNode, count) =>
    expect(updateRefusals(csiNodeStrategy, csiNode, node(driver))).toHaveLength(count),
  );

  it('the table row of a CSINode', () =>
    expect(csiNodeTable.cells(node(driver), { nowMs: 0 })).toEqual(['c', 1, '<unknown>']));
});

describe('CSIStorageCapacity', () => {
  const capacity = (fields: object) => object('CSIStorageCapacity', { storageClassName: 'sc', ...fields });

  it.each<[object, string[]]>([
    [{ capacity: '100Gi', nodeTopology: {} }, []],
    [{ capacity: '-1' }, ['capacity: Invalid value: "-1": must be greater than or equal to 0']],
    [{ maximumVolumeSize: '-1' }, ['maximumVolumeSize: Invalid value: "-1": must be greater than or equal to 0']],
  ])('a CSIStorageCapacity with %j is validated', (fields, want) =>
    expect(refusals(csiStorageCapacityStrategy, capacity(fields))).toEqual(want),
  );

  it('a CSIStorageCapacity without storageClassName is refused', () =>
    expect(refusals(csiStorageCapacityStrategy, capacity({ storageClassName: '' }))).toHaveLength(1));

  it.each<[object, string[]]>([
    [{ capacity: '1Gi' }, []],
    [{ storageClassName: 'x' }, ['storageClassName: Invalid value: "x": field is immutable']],
    [
      { nodeTopology: { matchLabels: { a: 'b' } } },
      ['nodeTopology: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable'],
    ],
  ])('an update of a CSIStorageCapacity to %j is validated', (fields, want) =>
    expect(updateRefusals(csiStorageCapacityStrategy, capacity(fields), capacity({}))).toEqual(want),
  );
});

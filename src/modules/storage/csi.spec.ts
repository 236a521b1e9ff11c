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
    ['nothing', {}, []],
    ['tokens', { tokenRequests: [{ audience: 'a' }, { audience: 'b', expirationSeconds: 600 }] }, []],
    [
      'another policy',
      { fsGroupPolicy: 'X' },
      ['spec.fsGroupPolicy: Unsupported value: "X": supported values: "File", "None", "ReadWriteOnceWithFSType"'],
    ],
    [
      'another life cycle',
      { volumeLifecycleModes: ['X'] },
      ['spec.volumeLifecycleModes: Unsupported value: "X": supported values: "Persistent", "Ephemeral"'],
    ],
    [
      'a short token',
      { tokenRequests: [{ expirationSeconds: 599 }] },
      ['spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes'],
    ],
    [
      'a token for ever',
      { tokenRequests: [{ expirationSeconds: 2 ** 32 + 1 }] },
      [
        'spec.tokenRequests[0].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
      ],
    ],
    [
      'an audience twice',
      { tokenRequests: [{ audience: 'a' }, { audience: 'a' }] },
      ['spec.tokenRequests[1].audience: Duplicate value: "a"'],
    ],
    [
      'a short period',
      { nodeAllocatableUpdatePeriodSeconds: 9 },
      ['spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds'],
    ],
  ])('%s', (_name, spec, want) => expect(refusals(csiDriverStrategy, driver(spec))).toEqual(want));

  it.each<[object, string[]]>([
    [{ requiresRepublish: true, fsGroupPolicy: 'File' }, []],
    [{ attachRequired: false }, ['spec.attachedRequired: Invalid value: false: field is immutable']],
    [
      { volumeLifecycleModes: ['Ephemeral'] },
      ['spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable'],
    ],
  ])('a change to %j', (spec, want) =>
    expect(updateRefusals(csiDriverStrategy, driver(spec), driver({}))).toEqual(want),
  );

  it('has a generation from its first change on', () => {
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
  ])('%j is warned of %d times', (spec, count) =>
    expect(csiDriverStrategy.warnings!(driver(spec), undefined)).toHaveLength(count),
  );

  it.each<[object, unknown[]]>([
    [{}, ['c', true, false, false, '<unset>', false, 'Persistent', '<unknown>']],
    [
      { attachRequired: false, tokenRequests: [{ audience: 'a' }, { audience: 'b' }], requiresRepublish: true },
      ['c', false, false, false, 'a,b', true, 'Persistent', '<unknown>'],
    ],
  ])('%j in a table', (spec, want) =>
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
    ['a driver twice', node(driver, driver), ['spec.drivers[1].name: Duplicate value: "csi.example.com"']],
    [
      'a negative count',
      node({ ...driver, allocatable: { count: -1 } }),
      ['spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'a key twice',
      node({ ...driver, topologyKeys: ['a', 'a'] }),
      ['spec.drivers[0].topologyKeys: Duplicate value: "a"'],
    ],
  ])('validates a CSINode with %s', (_name, csiNode, want) => expect(refusals(csiNodeStrategy, csiNode)).toEqual(want));

  it.each<[string, KubeObject, number]>([
    ['drivers come and go', node({ ...driver, name: 'other' }), 0],
    ['room changes', node({ ...driver, allocatable: { count: 1 } }), 0],
    ['ids stay', node({ ...driver, nodeID: 'm' }), 1],
  ])('validates a CSINode update: %s', (_name, csiNode, count) =>
    expect(updateRefusals(csiNodeStrategy, csiNode, node(driver))).toHaveLength(count),
  );

  it('in a table', () => expect(csiNodeTable.cells(node(driver), { nowMs: 0 })).toEqual(['c', 1, '<unknown>']));
});

describe('CSIStorageCapacity', () => {
  const capacity = (fields: object) => object('CSIStorageCapacity', { storageClassName: 'sc', ...fields });

  it.each<[object, string[]]>([
    [{ capacity: '100Gi', nodeTopology: {} }, []],
    [{ capacity: '-1' }, ['capacity: Invalid value: "-1": must be greater than or equal to 0']],
    [{ maximumVolumeSize: '-1' }, ['maximumVolumeSize: Invalid value: "-1": must be greater than or equal to 0']],
  ])('%j', (fields, want) => expect(refusals(csiStorageCapacityStrategy, capacity(fields))).toEqual(want));

  it('needs a class', () =>
    expect(refusals(csiStorageCapacityStrategy, capacity({ storageClassName: '' }))).toHaveLength(1));

  it.each<[object, string[]]>([
    [{ capacity: '1Gi' }, []],
    [{ storageClassName: 'x' }, ['storageClassName: Invalid value: "x": field is immutable']],
    [
      { nodeTopology: { matchLabels: { a: 'b' } } },
      ['nodeTopology: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable'],
    ],
  ])('a change to %j', (fields, want) =>
    expect(updateRefusals(csiStorageCapacityStrategy, capacity(fields), capacity({}))).toEqual(want),
  );
});

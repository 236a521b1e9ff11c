import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, updateRefusals } from '../../../test/harness/strategies.js';
import { storageClassStrategy } from './storage-class.strategy.js';
import { storageClassTable } from './storage-class.table.js';
import { volumeAttributesClassStrategy } from './volume-attributes-class.strategy.js';
import { volumeAttributesClassTable } from './volume-attributes-class.table.js';

const naming = namingProfile('kubernetes');

describe('StorageClass', () => {
  const strategy = storageClassStrategy(naming);
  const storageClass = (fields: object, annotations?: Record<string, string>): KubeObject => ({
    kind: 'StorageClass',
    apiVersion: 'storage.k8s.io/v1',
    metadata: { name: 's', ...(annotations && { annotations }) },
    provisioner: 'example.com/p',
    ...fields,
  });
  const topology = (...expressions: object[]) => ({ allowedTopologies: [{ matchLabelExpressions: expressions }] });
  const topologyTerm = { matchLabelExpressions: [{ key: 'a', values: ['x'] }] };
  const at = 'allowedTopologies[0].matchLabelExpressions';
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));

  it.each<[string, object, string[]]>([
    ['a provisioner', {}, []],
    ['letters of both cases', { provisioner: 'Example.com/P' }, []],
    ['512 parameters', { parameters: many(512) }, []],
    ['no provisioner', { provisioner: '' }, ['provisioner: Required value']],
    ['too many parameters', { parameters: many(513) }, ['parameters: Too long: may not be more than 512 bytes']],
    [
      'a parameter without a key',
      { parameters: { '': 'x' } },
      ['parameters: Invalid value: "": field can not be empty.'],
    ],
    [
      'too large parameters',
      { parameters: { a: 'x'.repeat(262144) } },
      ['parameters: Too long: may not be more than 262144 bytes'],
    ],
    [
      'an unknown reclaimPolicy',
      { reclaimPolicy: 'Recycle' },
      ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
    ],
    [
      'an unknown volumeBindingMode',
      { volumeBindingMode: 'X' },
      ['volumeBindingMode: Unsupported value: "X": supported values: "Immediate", "WaitForFirstConsumer"'],
    ],
    [
      'an empty volumeBindingMode',
      { volumeBindingMode: '' },
      ['volumeBindingMode: Unsupported value: "": supported values: "Immediate", "WaitForFirstConsumer"'],
    ],
    ['a topology key without values', topology({ key: 'a' }), [`${at}[0].values: Required value`]],
    [
      'one topology value twice',
      topology({ key: 'a', values: ['x', 'x'] }),
      [`${at}[0].values[1]: Duplicate value: "x"`],
    ],
    [
      'one topology key twice',
      topology({ key: 'a', values: ['x'] }, { key: 'a', values: ['y'] }),
      [`${at}[1].key: Duplicate value: "a"`],
    ],
    [
      'one topology term twice',
      { allowedTopologies: [topologyTerm, topologyTerm] },
      ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
    ],
    [
      'a topology term without expressions',
      { allowedTopologies: [{}] },
      ['allowedTopologies[0].matchLabelExpressions: Duplicate value: ""'],
    ],
  ])('a StorageClass with %s is validated', (_name, fields, want) =>
    expect(refusals(strategy, storageClass(fields))).toEqual(want),
  );

  it.each<[object, string[]]>([
    [{ allowVolumeExpansion: true }, []],
    [{ parameters: {} }, []],
    [{ parameters: { a: 'b' } }, ['parameters: Invalid value: {"a":"b"}: field is immutable']],
    [{ provisioner: 'x' }, ['provisioner: Invalid value: "x": field is immutable']],
    [{ reclaimPolicy: 'Retain' }, ['reclaimPolicy: Invalid value: "Retain": field is immutable']],
  ])('an update of a StorageClass to %j is validated', (fields, want) =>
    expect(updateRefusals(strategy, storageClass(fields), storageClass({}))).toEqual(want),
  );

  it('reclaimPolicy defaults to Delete and volumeBindingMode to Immediate', () =>
    expect(prepared(strategy, storageClass({}))).toMatchObject({
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'Immediate',
    }));

  it('deprecated node labels in topologies have warnings', () => {
    const old = storageClass(topology({ key: 'failure-domain.beta.kubernetes.io/zone', values: ['a'] }));
    expect(strategy.warnings!(old, undefined)).toEqual([
      `${at}[0].key: deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
    ]);
    expect(strategy.warnings!(storageClass({}), undefined)).toEqual([]);
  });

  it.each<[Record<string, string> | undefined, string]>([
    [undefined, 's'],
    [{ 'storageclass.kubernetes.io/is-default-class': 'true' }, 's (default)'],
    [{ 'storageclass.beta.kubernetes.io/is-default-class': 'true' }, 's (default)'],
    [{ 'storageclass.kubernetes.io/is-default-class': 'false' }, 's'],
  ])('the table row of annotations %j', (annotations, name) =>
    expect(storageClassTable(naming).cells(prepared(strategy, storageClass({}, annotations)), { nowMs: 0 })).toEqual([
      name,
      'example.com/p',
      'Delete',
      'Immediate',
      false,
      '<unknown>',
    ]),
  );
});

describe('VolumeAttributesClass', () => {
  const attributesClass = (fields: object): KubeObject => ({
    kind: 'VolumeAttributesClass',
    apiVersion: 'storage.k8s.io/v1',
    metadata: { name: 'v' },
    driverName: 'd',
    parameters: { a: 'b' },
    ...fields,
  });

  it.each<[object, string[]]>([
    [{}, []],
    [{ driverName: '' }, ['driverName: Required value']],
    [{ parameters: {} }, ['parameters: Required value: must contain at least one key/value pair']],
  ])('a VolumeAttributesClass with %j is validated', (fields, want) =>
    expect(refusals(volumeAttributesClassStrategy, attributesClass(fields))).toEqual(want),
  );

  it.each<[object, string[]]>([
    [{}, []],
    [{ driverName: 'x' }, ['driverName: Forbidden: updates to driverName are forbidden.']],
    [{ parameters: { x: 'y' } }, ['parameters: Forbidden: updates to parameters are forbidden.']],
  ])('an update of a VolumeAttributesClass to %j is validated', (fields, want) =>
    expect(updateRefusals(volumeAttributesClassStrategy, attributesClass(fields), attributesClass({}))).toEqual(want),
  );

  it('the table row of a VolumeAttributesClass', () =>
    expect(volumeAttributesClassTable(naming).cells(attributesClass({}), { nowMs: 0 })).toEqual([
      'v',
      'd',
      '<unknown>',
    ]));
});

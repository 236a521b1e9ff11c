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
    ['many parameters', { parameters: many(513) }, ['parameters: Too long: may not be more than 512 bytes']],
    [
      'a parameter without a key',
      { parameters: { '': 'x' } },
      ['parameters: Invalid value: "": field can not be empty.'],
    ],
    [
      'large parameters',
      { parameters: { a: 'x'.repeat(262144) } },
      ['parameters: Too long: may not be more than 262144 bytes'],
    ],
    [
      'another policy',
      { reclaimPolicy: 'Recycle' },
      ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
    ],
    [
      'another mode',
      { volumeBindingMode: 'X' },
      ['volumeBindingMode: Unsupported value: "X": supported values: "Immediate", "WaitForFirstConsumer"'],
    ],
    [
      'an empty mode',
      { volumeBindingMode: '' },
      ['volumeBindingMode: Unsupported value: "": supported values: "Immediate", "WaitForFirstConsumer"'],
    ],
    ['no values', topology({ key: 'a' }), [`${at}[0].values: Required value`]],
    ['a value twice', topology({ key: 'a', values: ['x', 'x'] }), [`${at}[0].values[1]: Duplicate value: "x"`]],
    [
      'a key twice',
      topology({ key: 'a', values: ['x'] }, { key: 'a', values: ['y'] }),
      [`${at}[1].key: Duplicate value: "a"`],
    ],
    [
      'a term twice',
      { allowedTopologies: [topologyTerm, topologyTerm] },
      ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
    ],
    [
      'a term without expressions',
      { allowedTopologies: [{}] },
      ['allowedTopologies[0].matchLabelExpressions: Duplicate value: ""'],
    ],
  ])('%s', (_name, fields, want) => expect(refusals(strategy, storageClass(fields))).toEqual(want));

  it.each<[object, string[]]>([
    [{ allowVolumeExpansion: true }, []],
    [{ parameters: {} }, []],
    [{ parameters: { a: 'b' } }, ['parameters: Invalid value: {"a":"b"}: field is immutable']],
    [{ provisioner: 'x' }, ['provisioner: Invalid value: "x": field is immutable']],
    [{ reclaimPolicy: 'Retain' }, ['reclaimPolicy: Invalid value: "Retain": field is immutable']],
  ])('a change to %j', (fields, want) =>
    expect(updateRefusals(strategy, storageClass(fields), storageClass({}))).toEqual(want),
  );

  it('deletes volumes, and makes them at once', () =>
    expect(prepared(strategy, storageClass({}))).toMatchObject({
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'Immediate',
    }));

  it('warns of labels that have other names', () => {
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
  ])('a table with %j', (annotations, name) =>
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
  ])('%j', (fields, want) => expect(refusals(volumeAttributesClassStrategy, attributesClass(fields))).toEqual(want));

  it.each<[object, string[]]>([
    [{}, []],
    [{ driverName: 'x' }, ['driverName: Forbidden: updates to driverName are forbidden.']],
    [{ parameters: { x: 'y' } }, ['parameters: Forbidden: updates to parameters are forbidden.']],
  ])('a change to %j', (fields, want) =>
    expect(updateRefusals(volumeAttributesClassStrategy, attributesClass(fields), attributesClass({}))).toEqual(want),
  );

  it('in a table', () =>
    expect(volumeAttributesClassTable(naming).cells(attributesClass({}), { nowMs: 0 })).toEqual([
      'v',
      'd',
      '<unknown>',
    ]));
});

import type { KubeObject } from '../../machinery/kube-object.js';
import { refusals, updateRefusals } from '../../../test/harness/strategies.js';
import { leaseCandidateStrategy } from './lease-candidate.strategy.js';
import { leaseCandidateTable } from './lease-candidate.table.js';

const candidate = (spec: object): KubeObject => ({
  kind: 'LeaseCandidate',
  apiVersion: 'coordination.k8s.io/v1beta1',
  metadata: { name: 'c' },
  spec: {
    leaseName: 'l',
    binaryVersion: '1.36.1',
    emulationVersion: '1.36.0',
    strategy: 'OldestEmulationVersion',
    ...spec,
  },
});

it.each<[object, string[]]>([
  [{}, []],
  [{ strategy: 'example.com/mine', emulationVersion: '' }, []],
  [{ leaseName: '' }, ['spec.leaseName: Required value']],
  [{ binaryVersion: '' }, ['spec.binaryVersion: Required value']],
  [{ binaryVersion: '1.36' }, ['spec.binaryVersion: Invalid value: "1.36": must be a valid semantic version']],
  [
    { binaryVersion: '1.35.9' },
    ['spec.binaryVersion: Invalid value: "1.35.9": must be greater than or equal to `emulationVersion`'],
  ],
  [
    { emulationVersion: '' },
    ["spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'"],
  ],
  [{ strategy: '' }, ['spec.strategy: Required value']],
  [{ strategy: 'mine' }, ['spec.strategy: Invalid value: "mine": should be fully qualified']],
])('spec %j is validated', (spec, want) => expect(refusals(leaseCandidateStrategy, candidate(spec))).toEqual(want));

it('spec.leaseName is immutable', () =>
  expect(updateRefusals(leaseCandidateStrategy, candidate({ leaseName: 'm' }), candidate({}))).toEqual([
    'spec.leaseName: Invalid value: "m": field is immutable',
  ]));

it('the table row of a LeaseCandidate', () =>
  expect(leaseCandidateTable.cells(candidate({}), { nowMs: 0 })).toEqual([
    ...['c', 'l', '1.36.1', '1.36.0', '<none>', '<none>', 'OldestEmulationVersion'],
  ]));

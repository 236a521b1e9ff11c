import type { KubeObject } from '../../machinery/kube-object.js';
import { refusals } from '../../../test/harness/strategies.js';
import { leaseStrategy } from './lease.strategy.js';
import { leaseTable } from './lease.table.js';

const lease = (spec: object): KubeObject => ({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: { name: 'l' },
  spec,
});

it.each<[object, string[]]>([
  [{}, []],
  [{ holderIdentity: '' }, []],
  [{ leaseDurationSeconds: 0 }, ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0']],
  [{ strategy: 'OldestEmulationVersion', preferredHolder: 'x' }, []],
  [{ strategy: 'X' }, ['spec.strategy: Invalid value: "X": should be fully qualified']],
  [{ preferredHolder: 'x' }, ['spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined']],
  [{ leaseTransitions: -1 }, ['spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0']],
])('spec %j is validated', (spec, want) => expect(refusals(leaseStrategy, lease(spec))).toEqual(want));

it.each([
  [{}, ''],
  [{ holderIdentity: 'me' }, 'me'],
])('the table row of spec %j', (spec, holder) =>
  expect(leaseTable.cells(lease(spec), { nowMs: 0 })).toEqual(['l', holder, '<unknown>']),
);

import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, testContext } from '../../../test/harness/strategies.js';
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
  [{ leaseTransitions: -1 }, ['spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0']],
])('%j', (spec, want) => expect(refusals(leaseStrategy, lease(spec))).toEqual(want));

it('knows no coordinated election, but leaves it to those who have it', () => {
  const coordinated = lease({ strategy: 'OldestEmulationVersion', preferredHolder: 'x' });
  expect(prepared(leaseStrategy, coordinated)).toEqual(lease({}));
  const change = structuredClone(coordinated);
  leaseStrategy.prepareForUpdate!(change, coordinated, testContext);
  expect(change).toEqual(coordinated);
});

it.each([
  [{}, ''],
  [{ holderIdentity: 'me' }, 'me'],
])('%j in a table', (spec, holder) =>
  expect(leaseTable.cells(lease(spec), { nowMs: 0 })).toEqual(['l', holder, '<unknown>']),
);

import { prepared, refusals, testContext, texts } from '../../../test/harness/strategies.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { podDisruptionBudgetStatusSubresource, podDisruptionBudgetStrategy } from './pod-disruption-budget.strategy.js';
import { podDisruptionBudgetTable } from './pod-disruption-budget.table.js';
import { policyResources } from './policy.resources.js';

const budget = (spec: object, status?: object): KubeObject => ({
  kind: 'PodDisruptionBudget',
  apiVersion: 'policy/v1',
  metadata: { name: 'b' },
  spec,
  ...(status && { status }),
});

it.each<[object, string[]]>([
  [{}, []],
  [{ minAvailable: '50%', unhealthyPodEvictionPolicy: 'AlwaysAllow' }, []],
  [
    { minAvailable: 1, maxUnavailable: 1 },
    [
      'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
    ],
  ],
  [{ minAvailable: -1 }, ['spec.minAvailable: Invalid value: -1: must be greater than or equal to 0']],
  [{ maxUnavailable: '101%' }, ['spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%']],
  [
    { unhealthyPodEvictionPolicy: 'Odd' },
    ['spec.unhealthyPodEvictionPolicy: Unsupported value: "Odd": supported values: "AlwaysAllow", "IfHealthyBudget"'],
  ],
])('spec %j is validated', (spec, want) => expect(refusals(podDisruptionBudgetStrategy, budget(spec))).toEqual(want));

it.each([
  ['Upper_Case', true],
  ['a/b', false],
])('name %s is valid: %s', (name, isValid) =>
  expect(podDisruptionBudgetStrategy.validateName(name).length === 0).toBe(isValid),
);

it('the status of a new budget allows no disruptions, whatever was submitted', () =>
  expect(prepared(podDisruptionBudgetStrategy, budget({}, { disruptionsAllowed: 5 }))['status']).toEqual({
    disruptionsAllowed: 0,
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
  }));

it('negative counters in the status are rejected', () => {
  const given = budget({}, { disruptionsAllowed: -1 });
  expect(texts(podDisruptionBudgetStatusSubresource.validate!(given, given, testContext))).toEqual([
    'status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0',
  ]);
});

it.each<[object, (string | number)[]]>([
  [{}, ['b', 'N/A', 'N/A', 0, '<unknown>']],
  [{ minAvailable: 0 }, ['b', '0', 'N/A', 0, '<unknown>']],
  [{ maxUnavailable: '25%' }, ['b', 'N/A', '25%', 0, '<unknown>']],
])('the table row of spec %j', (spec, want) =>
  expect(podDisruptionBudgetTable.cells(budget(spec), { nowMs: 0 })).toEqual(want),
);

it('an update needs a resourceVersion', () =>
  expect(policyResources.map(({ plural, allowsUnconditionalUpdate }) => [plural, allowsUnconditionalUpdate])).toEqual([
    ['poddisruptionbudgets', false],
  ]));

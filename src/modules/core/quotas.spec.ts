import { prepared, refusals, testContext, texts, updateRefusals } from '../../../test/harness/strategies.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { limitRangeStrategy } from './limit-range.strategy.js';
import { resourceQuotaStatusSubresource, resourceQuotaStrategy } from './resource-quota.strategy.js';
import { resourceQuotaTable } from './resource-quota.table.js';

const quota = (spec: object, status?: object): KubeObject => ({
  kind: 'ResourceQuota',
  apiVersion: 'v1',
  metadata: { name: 'q' },
  spec: structuredClone(spec),
  ...(status && { status }),
});
const range = (...limits: object[]): KubeObject => ({
  kind: 'LimitRange',
  apiVersion: 'v1',
  metadata: { name: 'l' },
  spec: { limits: structuredClone(limits) },
});

const byClass = (rest: object) => ({ hard: { pods: '1' }, scopeSelector: { matchExpressions: [rest] } });
it.each<[object, string[]]>([
  [{}, []],
  [{ hard: { pods: '10', 'requests.cpu': '4', 'count/deployments.apps': '5', 'example.com/gpu': '1' } }, []],
  [{ hard: { pods: '-1' } }, ['spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0']],
  [{ hard: { pods: '500m' } }, ['spec.hard[pods]: Invalid value: "500m": must be an integer']],
  [
    { hard: { spoons: '1' } },
    [
      'spec.hard[spoons]: Invalid value: "spoons": must be a standard resource type or fully qualified',
      'spec.hard[spoons]: Invalid value: "spoons": must be a standard resource for quota',
    ],
  ],
  [{ scopes: ['Odd'] }, ['spec.scopes: Invalid value: ["Odd"]: unsupported scope']],
  [
    { hard: { pods: '1' }, scopes: ['Terminating', 'NotTerminating'] },
    ['spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes'],
  ],
  [
    { hard: { services: '1' }, scopes: ['BestEffort'] },
    ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
  ],
  [byClass({ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }), []],
  [
    byClass({ scopeName: 'PriorityClass', operator: 'Odd' }),
    ['spec.scopeSelector.matchExpressions.operator: Invalid value: "Odd": not a valid selector operator'],
  ],
  [
    byClass({ scopeName: 'PriorityClass', operator: 'In' }),
    [
      "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
    ],
  ],
])('create of a ResourceQuota with spec %j is validated', (spec, want) =>
  expect(refusals(resourceQuotaStrategy, quota(spec))).toEqual(want),
);

it('hard can be updated; scopes are immutable', () => {
  const before = quota({ hard: { pods: '1' } });
  expect(updateRefusals(resourceQuotaStrategy, quota({ hard: { pods: '2' } }), before)).toEqual([]);
  expect(updateRefusals(resourceQuotaStrategy, quota({ hard: { pods: '1' }, scopes: ['BestEffort'] }), before)).toEqual(
    ['spec.scopes: Invalid value: ["BestEffort"]: field is immutable'],
  );
});

it('status with a negative amount is rejected', () => {
  const update = quota({}, { used: { pods: '-1' } });
  expect(texts(resourceQuotaStatusSubresource.validate!(update, update, testContext))).toEqual([
    'status.used[pods]: Invalid value: "-1": must be greater than or equal to 0',
  ]);
});

it('table row of a ResourceQuota lists requests and limits', () => {
  const status = { hard: { pods: '10', 'limits.cpu': '4' }, used: { pods: '3' } };
  expect(resourceQuotaTable.cells(quota({}, status), { nowMs: 0 })).toEqual([
    'q',
    'pods: 3/10',
    'limits.cpu: 0/4',
    '<unknown>',
  ]);
});

it('container limits default to max, and requests to limits', () =>
  expect(
    prepared(
      limitRangeStrategy,
      range({ type: 'Container', max: { cpu: '2', memory: '4096Mi' }, min: { cpu: '1m' }, default: { cpu: '0.5' } }),
    )['spec'],
  ).toEqual({
    limits: [
      {
        type: 'Container',
        max: { cpu: '2', memory: '4Gi' },
        min: { cpu: '1m' },
        default: { cpu: '500m', memory: '4Gi' },
        defaultRequest: { cpu: '500m', memory: '4Gi' },
      },
    ],
  }));

const container = (rest: object) => ({ type: 'Container', ...rest });
it.each<[string, object[], string[]]>([
  ['a limit without amounts', [{ type: 'Pod' }], []],
  [
    'no type',
    [{}],
    [
      'spec.limits[0].type: Invalid value: "": name part must be non-empty',
      expect.stringMatching(/^spec\.limits\[0\]\.type: Invalid value: "": name part must consist of/) as string,
    ],
  ],
  [
    'an unknown type',
    [{ type: 'Odd' }],
    ['spec.limits[0].type: Invalid value: "Odd": must be a standard limit type or fully qualified'],
  ],
  ['a duplicate type', [{ type: 'Pod' }, { type: 'Pod' }], ['spec.limits[1].type: Duplicate value: "Pod"']],
  [
    'max below min',
    [container({ min: { cpu: '2' }, max: { cpu: '1' } })],
    [
      'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
      'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
    ],
  ],
  [
    'defaults for Pods',
    [{ type: 'Pod', default: { cpu: '1' } }],
    ["spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"],
  ],
  [
    'claims without storage',
    [{ type: 'PersistentVolumeClaim', max: { cpu: '1' } }],
    [
      'spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
    ],
  ],
  [
    'a resource with the name of an inherited property',
    [
      {
        type: 'PersistentVolumeClaim',
        max: { constructor: '1', storage: '1' },
        min: { storage: '1' },
        maxLimitRequestRatio: { storage: '1' },
      },
    ],
    [
      'spec.limits[0].max[constructor]: Invalid value: "constructor": must be a standard resource type or fully qualified',
    ],
  ],
  [
    'a ratio below one',
    [container({ maxLimitRequestRatio: { cpu: '500m' } })],
    ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1'],
  ],
  [
    'a ratio above max/min',
    [container({ maxLimitRequestRatio: { cpu: '9' }, min: { cpu: '1' }, max: { cpu: '2' } })],
    ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "9": ratio 9 is greater than max/min = 2.000000'],
  ],
])('create of a LimitRange with %s is validated', (_case, limits, want) =>
  expect(refusals(limitRangeStrategy, range(...limits))).toEqual(want),
);

it('a LimitRange with many names or many limits is validated in steps', () => {
  const amounts = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`example.com/r${index}`, '1']));
  const stepsOf = (object: KubeObject) => [...limitRangeStrategy.validateInSteps!(object, undefined, testContext)];
  expect(stepsOf(range(container({ max: amounts, min: amounts, default: amounts })))).toHaveLength(6);
  const limits = Array.from({ length: 5_000 }, (_, index) => ({ type: `example.com/t${index}` }));
  expect(stepsOf(range(...limits))).toHaveLength(5);
});

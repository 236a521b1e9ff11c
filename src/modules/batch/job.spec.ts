import { prepared, refusals, testContext, texts, updateRefusals } from '../../../test/harness/strategies.js';
import { namingProfile } from '../../config/naming-profile.js';
import { boundedErrors, validationErrorsMax } from '../../machinery/error-budget.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { jobTable } from './batch.tables.js';
import { jobStatusSubresource, jobStrategy } from './job.strategy.js';

const strategy = jobStrategy(namingProfile('kubernetes'));
const template = (rest: object = {}) => ({
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'b:1' }], ...rest },
});
const job = (spec: object = {}, metadata: object = {}): KubeObject => ({
  kind: 'Job',
  apiVersion: 'batch/v1',
  metadata: { name: 'j', uid: 'u-1', ...metadata },
  spec: { template: template(), ...structuredClone(spec) },
});
const labels = {
  'batch.kubernetes.io/controller-uid': 'u-1',
  'batch.kubernetes.io/job-name': 'j',
  'controller-uid': 'u-1',
  'job-name': 'j',
};

it('the selector and the template labels are generated from the uid', () => {
  const { spec, metadata } = prepared(strategy, job());
  expect(metadata.labels).toEqual(labels);
  expect(spec).toMatchObject({
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u-1' } },
    template: { metadata: { labels } },
  });
});

it('with manualSelector nothing is generated', () => {
  const chosen = { manualSelector: true, selector: { matchLabels: { x: 'y' } } };
  const manual = job({ ...chosen, template: { ...template(), metadata: { labels: { x: 'y' } } } });
  expect(prepared(strategy, manual)['spec']).toMatchObject(chosen);
  expect(refusals(strategy, manual)).toEqual([]);
});

it.each<[object, object]>([
  [
    {},
    {
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      podReplacementPolicy: 'TerminatingOrFailed',
    },
  ],
  [{ backoffLimitPerIndex: 1 }, { backoffLimit: 2147483647 }],
  [
    { podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] } },
    {
      podReplacementPolicy: 'Failed',
      podFailurePolicy: { rules: [{ onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] },
    },
  ],
])('the spec %j is defaulted to %j', (given, want) =>
  expect(prepared(strategy, job(given))['spec']).toMatchObject(want),
);

it('completions has no default if parallelism is set', () =>
  expect(prepared(strategy, job({ parallelism: 3 }))['spec']).not.toHaveProperty('completions'));

const failure = (rule: object) => ({ podFailurePolicy: { rules: [rule] } });
const success = (...rules: object[]) => ({ completionMode: 'Indexed', completions: 3, successPolicy: { rules } });
const codes = { operator: 'In', values: [1] };
it.each<[object, string[]]>([
  [{}, []],
  [{ completionMode: 'Indexed' }, []],
  [
    { template: template({ restartPolicy: 'Always' }) },
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [{ parallelism: -1 }, ['spec.parallelism: Invalid value: -1: must be greater than or equal to 0']],
  [
    { selector: { matchLabels: { a: 'b' } } },
    [
      'spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"u-1"}}: `selector` not auto-generated',
      `spec.template.metadata.labels: Invalid value: ${JSON.stringify(labels)}: \`selector\` does not match template \`labels\``,
    ],
  ],
  [
    { manualSelector: true },
    [
      'spec.selector: Required value',
      'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
    ],
  ],
  [
    { completionMode: 'Odd' },
    ['spec.completionMode: Unsupported value: "Odd": supported values: "NonIndexed", "Indexed"'],
  ],
  [{ backoffLimitPerIndex: 1 }, ['spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode']],
  [
    { managedBy: 'me' },
    ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
  [{ managedBy: 'example.com/me' }, []],
  [failure({ action: 'FailJob', onExitCodes: codes }), []],
  [
    { ...failure({ action: 'FailJob', onExitCodes: codes }), template: template({ restartPolicy: 'OnFailure' }) },
    [
      'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
    ],
  ],
  [
    failure({ action: 'FailJob' }),
    ['spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required'],
  ],
  [
    failure({ action: 'FailJob', onExitCodes: { operator: 'In', values: [2, 0, 2] } }),
    [
      'spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator',
      'spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 2',
      'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,0,2]: must be ordered',
    ],
  ],
  [
    failure({ action: 'FailIndex', onExitCodes: codes }),
    ['spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set'],
  ],
  [success({ succeededIndexes: '0-1', succeededCount: 1 }), []],
  [
    success(),
    [
      'spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified',
    ],
  ],
  [
    success({ succeededIndexes: '0-1', succeededCount: 3 }),
    [
      'spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)',
    ],
  ],
  [
    success({}),
    [
      'spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified',
    ],
  ],
])('spec %j is validated', (spec, want) => expect(refusals(strategy, job(spec))).toEqual(want));

it('the name of an indexed Job must leave room for the index in a DNS label', () =>
  expect(refusals(strategy, job({ completionMode: 'Indexed', completions: 100 }, { name: 'a.b' }))).toContain(
    'metadata.name: Invalid value: "a.b": will not able to create pod with invalid DNS label: a.b-99',
  ));

const kept = { selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u-1' } } };
const own = (rest: object = {}) => ({ ...template(rest), metadata: { labels } });
it.each<[string, object, object, string[]]>([
  ['parallelism', {}, { ...kept, template: own(), completions: 1, parallelism: 5 }, []],
  [
    'completions',
    {},
    { ...kept, template: own(), completions: 5 },
    ['spec.completions: Invalid value: 5: field is immutable'],
  ],
  [
    'completions and parallelism of an indexed Job',
    { completionMode: 'Indexed', completions: 2, parallelism: 2 },
    { ...kept, template: own(), completionMode: 'Indexed', completions: 3, parallelism: 3 },
    [],
  ],
  [
    'completions alone of an indexed Job',
    { completionMode: 'Indexed', completions: 2, parallelism: 2 },
    { ...kept, template: own(), completionMode: 'Indexed', completions: 3, parallelism: 2 },
    ['spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism'],
  ],
])('an update of %s is validated', (_name, before, after, want) =>
  expect(updateRefusals(strategy, job(after), job(before))).toEqual(want),
);

it('an update lists the errors of the spec twice, as kube-apiserver does', () => {
  const after = job({ ...kept, template: own(), completions: 1, parallelism: -1 });
  const want = 'spec.parallelism: Invalid value: -1: must be greater than or equal to 0';
  expect(updateRefusals(strategy, after, job())).toEqual([want, want]);
});

it('errors of rules of a podFailurePolicy count as errors of the validation', () => {
  const many = prepared(strategy, job({ podFailurePolicy: { rules: Array(5_000).fill({ action: 'Ignore' }) } }));
  expect(boundedErrors(() => strategy.validateCreate!(many, testContext))).toHaveLength(validationErrorsMax + 1);
});

describe('the template of a suspended Job', () => {
  const suspended = { conditions: [{ type: 'Suspended', status: 'True' }] };
  const neighbours = { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } };
  const container = { name: 'c', image: 'b:1' };
  const refused = [expect.stringMatching(/^spec\.template: .*field is immutable$/)];
  const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } };
  // prettier-ignore
  it.each<[string, object, object, unknown[]]>([
    ['may change its nodeSelector', suspended, { nodeSelector: { a: 'b' } }, []],
    ['may change its node affinity', suspended, { affinity }, []],
    ['may change resources', suspended, { containers: [{ ...container, resources: { requests: { cpu: '1' } } }] }, []],
    ['cannot change an image', suspended, { containers: [{ ...container, image: 'j' }] }, refused],
    ['cannot add a container', suspended, { containers: [container, { ...container, name: 'd' }] }, refused],
    ['cannot change its Pod affinity', suspended, { affinity: { ...affinity, ...neighbours } }, refused],
    ['is immutable without the condition Suspended', {}, { nodeSelector: { a: 'b' } }, refused],
    ['is immutable while Pods are active', { ...suspended, active: 1 }, { nodeSelector: { a: 'b' } }, refused],
  ])('%s', (_name, status, change, want) => {
    const after = { ...kept, suspend: true, completions: 1, template: own(change) };
    expect(updateRefusals(strategy, job(after), job({ suspend: true }), status)).toEqual(want);
  });
});

it('the template of a Job that is not suspended is immutable', () => {
  const after = job({ ...kept, completions: 1, template: own({ nodeSelector: { a: 'b' } }) });
  expect(updateRefusals(strategy, after, job())).toEqual([
    expect.stringMatching(/^spec\.template: .*field is immutable$/),
  ]);
});

const condition = (type: string, status = 'True') => ({ type, status });
it.each<[object, object, string[]]>([
  [{ active: 1 }, {}, []],
  [{ active: -1 }, {}, ['status.active: Invalid value: -1: must be greater than or equal to 0']],
  [
    { conditions: [condition('Complete')] },
    {},
    [
      'status.completionTime: Required value: completionTime is required for Complete jobs',
      'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
      'status.startTime: Required value: startTime is required for finished job',
    ],
  ],
  [
    {
      startTime: '2026-01-01T00:00:00Z',
      completionTime: '2026-01-01T00:00:05Z',
      conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
    },
    {},
    [],
  ],
  [
    { conditions: [condition('FailureTarget'), condition('SuccessCriteriaMet')] },
    {},
    ['status.conditions: Invalid value: cannot set FailureTarget=True and SuccessCriteriaMet=true conditions'],
  ],
  [
    {},
    { conditions: [condition('FailureTarget')] },
    ['status.conditions: Invalid value: cannot disable the terminal FailureTarget=True condition'],
  ],
  [
    { startTime: '2026-01-01T00:00:09Z' },
    { startTime: '2026-01-01T00:00:00Z' },
    ['status.startTime: Required value: startTime cannot be updated for unsuspended job'],
  ],
  [
    { uncountedTerminatedPods: { succeeded: ['a'], failed: ['a'] } },
    {},
    ['status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"'],
  ],
  [
    { completedIndexes: '0' },
    {},
    [
      'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
    ],
  ],
])('the status %j after %j is validated', (status, before, want) =>
  expect(
    texts(jobStatusSubresource.validate!({ ...job(), status }, { ...job(), status: before }, testContext)),
  ).toEqual(want),
);

const start = '2026-01-01T00:00:00Z';
it.each<[object, object, (string | number)[]]>([
  [{ completions: 1 }, {}, ['Running', '0/1', '']],
  [{ parallelism: 2 }, { succeeded: 1 }, ['Running', '1/1 of 2', '']],
  [{ completions: 1 }, { startTime: start, conditions: [condition('Suspended')] }, ['Suspended', '0/1', '60s']],
  [
    { completions: 1 },
    { startTime: start, completionTime: '2026-01-01T00:00:05Z', succeeded: 1, conditions: [condition('Complete')] },
    ['Complete', '1/1', '5s'],
  ],
])('the table row of spec %j with status %j', (spec, status, want) =>
  expect(jobTable.cells({ ...job(spec), status }, { nowMs: Date.parse(start) + 60000 }).slice(1, 4)).toEqual(want),
);

import { prepared, refusals, updateRefusals } from '../../../test/harness/strategies.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { cronJobTable } from './batch.tables.js';
import { cronJobStrategy } from './cron-job.strategy.js';

const jobTemplate = (spec: object = {}) => ({
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'b:1' }] } }, ...spec },
});
const cronJob = (spec: object, name = 'c'): KubeObject => ({
  kind: 'CronJob',
  apiVersion: 'batch/v1',
  metadata: { name },
  spec: { schedule: '* * * * *', jobTemplate: jobTemplate(), ...structuredClone(spec) },
});

it('defaults of a CronJob include none of the Job spec of its template', () => {
  const { spec, status } = prepared(cronJobStrategy, cronJob({}));
  expect(status).toEqual({});
  expect(spec).toMatchObject({
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
    jobTemplate: { metadata: {}, spec: { template: { metadata: {}, spec: { dnsPolicy: 'ClusterFirst' } } } },
  });
  expect((spec as { jobTemplate: { spec: object } }).jobTemplate.spec).not.toHaveProperty('completions');
});

const zoneElsewhere = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
it.each<[object, string[]]>([
  [{}, []],
  [{ schedule: '' }, ['spec.schedule: Required value']],
  [{ schedule: 'x' }, ['spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]']],
  [{ schedule: 'TZ=UTC 0 * * * *' }, [`spec.schedule: Invalid value: "TZ=UTC 0 * * * *": ${zoneElsewhere}`]],
  [{ timeZone: 'Europe/Rome' }, []],
  [{ timeZone: '' }, ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string']],
  [{ timeZone: 'Mars/Base' }, ['spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base']],
  [
    { timeZone: 'local' },
    [
      'spec.timeZone: Invalid value: "local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
    ],
  ],
  [
    { concurrencyPolicy: 'Odd' },
    ['spec.concurrencyPolicy: Unsupported value: "Odd": supported values: "Allow", "Forbid", "Replace"'],
  ],
  [
    { startingDeadlineSeconds: -1 },
    ['spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    { jobTemplate: jobTemplate({ manualSelector: true, selector: { matchLabels: { a: 'b' } } }) },
    [
      'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
      'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
    ],
  ],
])('spec %j is validated', (spec, want) => expect(refusals(cronJobStrategy, cronJob(spec))).toEqual(want));

it('a name of more than 52 characters is rejected', () =>
  expect(refusals(cronJobStrategy, cronJob({}, 'a'.repeat(53)))).toEqual([
    expect.stringMatching(/^metadata\.name: .*must be no more than 52 characters$/),
  ]));

it.each<[object, object, string[]]>([
  [{ schedule: 'TZ=UTC 0 * * * *' }, { schedule: 'TZ=UTC 5 * * * *' }, []],
  [
    { schedule: 'TZ=UTC 0 * * * *' },
    { schedule: 'TZ=UTC 0 * * * *', timeZone: 'UTC' },
    ['spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule'],
  ],
  [{ timeZone: 'Gone/Zone' }, { timeZone: 'Gone/Zone', suspend: true }, []],
])('an update of %j to %j is validated', (before, after, want) =>
  expect(updateRefusals(cronJobStrategy, cronJob(after), cronJob(before))).toEqual(want),
);

it.each<[object, object, (string | number)[]]>([
  [{}, {}, ['c', '* * * * *', '<none>', '<unset>', 0, '<none>', '<unknown>', 'c', 'b:1', '<none>']],
  [
    { suspend: true, timeZone: 'UTC' },
    { active: [{}], lastScheduleTime: '1970-01-01T00:00:00Z' },
    ['c', '* * * * *', 'UTC', 'True', 1, '60s', '<unknown>', 'c', 'b:1', '<none>'],
  ],
])('the table row of spec %j with status %j', (spec, status, want) =>
  expect(cronJobTable.cells({ ...cronJob(spec), status }, { nowMs: 60000 })).toEqual(want),
);

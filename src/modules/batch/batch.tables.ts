import type { CronJob, Job, JobSpec, JobStatus } from '../../catalog/types/batch.v1.js';
import {
  ageCell,
  ageColumn,
  humanDuration,
  nameColumn,
  type TableDefinition,
} from '../../registry/definition/table.js';
import { orNone } from '../core/cells.js';
import { selectorColumn, templateCells, templateColumns } from '../core/pod/template.cells.js';
import { selectorText } from '../core/selector.cells.js';

export const jobTable: TableDefinition<Job> = {
  columns: [
    nameColumn,
    {
      name: 'Status',
      type: 'string',
      description:
        'State of the Job: Running, Suspended, Terminating, Complete, Failed, or the criterion that ends it.',
    },
    {
      name: 'Completions',
      type: 'string',
      description: 'Number of succeeded Pods, of the number that completes the Job.',
    },
    { name: 'Duration', type: 'string', description: 'Time since the Job started, or until it was complete.' },
    ageColumn,
    ...templateColumns,
    selectorColumn,
  ],
  cells(job, { nowMs }) {
    const { metadata, spec = {}, status = {} } = job;
    return [
      metadata.name ?? '',
      jobState(job),
      completions(spec, status),
      runTime(status, nowMs),
      ageCell(metadata.creationTimestamp, nowMs),
      ...templateCells(spec.template),
      orNone(selectorText(spec.selector)),
    ];
  },
};

function jobState({ metadata, status }: Job): string {
  const trueTypes = new Set((status?.conditions ?? []).flatMap((one) => (one.status === 'True' ? [one.type] : [])));
  const found = (...types: string[]) => types.find((type) => trueTypes.has(type));
  const ended = found('Complete', 'Failed');
  if (ended) return ended;
  if (metadata.deletionTimestamp) return 'Terminating';
  return found('Suspended', 'FailureTarget', 'SuccessCriteriaMet') ?? 'Running';
}

/** A Job without spec.completions is complete when any of its Pods has succeeded, and none runs. */
function completions({ completions, parallelism = 0 }: JobSpec, { succeeded = 0 }: JobStatus): string {
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function runTime({ startTime = '', completionTime = '' }: JobStatus, nowMs: number): string {
  const start = Date.parse(startTime);
  if (Number.isNaN(start)) return '';
  const end = Date.parse(completionTime);
  return humanDuration((Number.isNaN(end) ? nowMs : end) - start);
}

export const cronJobTable: TableDefinition<CronJob> = {
  columns: [
    nameColumn,
    { name: 'Schedule', type: 'string', description: 'Schedule of the Jobs, in Cron format.' },
    { name: 'Timezone', type: 'string', description: 'Time zone of the schedule.' },
    { name: 'Suspend', type: 'boolean', description: 'True if no further Jobs are started.' },
    { name: 'Active', type: 'integer', description: 'Number of Jobs that are running.' },
    { name: 'Last Schedule', type: 'string', description: 'Time since a Job was last scheduled.' },
    ageColumn,
    ...templateColumns,
    selectorColumn,
  ],
  cells({ metadata, spec = {}, status = {} }, { nowMs }) {
    const { suspend } = spec;
    const jobSpec = spec.jobTemplate?.spec ?? {};
    return [
      metadata.name ?? '',
      spec.schedule ?? '',
      orNone(spec.timeZone ?? ''),
      suspend === undefined ? '<unset>' : suspend ? 'True' : 'False',
      status.active?.length ?? 0,
      status.lastScheduleTime ? ageCell(status.lastScheduleTime, nowMs) : '<none>',
      ageCell(metadata.creationTimestamp, nowMs),
      ...templateCells(jobSpec.template),
      orNone(selectorText(jobSpec.selector)),
    ];
  },
};

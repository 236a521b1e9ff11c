import { asFields, asItems, asNumber, asText, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
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

export const jobTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Status', type: 'string', description: 'Whether it runs, is held, or has ended, and how.' },
    { name: 'Completions', type: 'string', description: 'Pods that ended well, of all that must.' },
    { name: 'Duration', type: 'string', description: 'How long it has run, or ran.' },
    ageColumn,
    ...templateColumns,
    selectorColumn,
  ],
  cells(job, { nowMs }) {
    const spec = asFields(job['spec']);
    const status = asFields(job['status']);
    return [
      job.metadata.name ?? '',
      jobState(job, status),
      completions(spec, status),
      runTime(status, nowMs),
      ageCell(job.metadata.creationTimestamp, nowMs),
      ...templateCells(spec['template']),
      orNone(selectorText(spec['selector'])),
    ];
  },
};

function jobState(job: KubeObject, status: Fields): string {
  const holding = new Set(
    asItems(status['conditions']).flatMap((it) => (it['status'] === 'True' ? [asText(it['type'])] : [])),
  );
  const found = (...types: string[]) => types.find((type) => holding.has(type));
  const ended = found('Complete', 'Failed');
  if (ended) return ended;
  if (job.metadata.deletionTimestamp) return 'Terminating';
  return found('Suspended', 'FailureTarget', 'SuccessCriteriaMet') ?? 'Running';
}

/** A job without a number of completions is done when one pod is, however many share the work. */
function completions(spec: Fields, status: Fields): string {
  const succeeded = asNumber(status['succeeded']);
  if (isSet(spec['completions'])) return `${succeeded}/${asNumber(spec['completions'])}`;
  const parallelism = asNumber(spec['parallelism']);
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function runTime(status: Fields, nowMs: number): string {
  const start = Date.parse(asText(status['startTime']));
  if (Number.isNaN(start)) return '';
  const end = Date.parse(asText(status['completionTime']));
  return humanDuration((Number.isNaN(end) ? nowMs : end) - start);
}

export const cronJobTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Schedule', type: 'string', description: 'When it starts a job.' },
    { name: 'Timezone', type: 'string', description: 'Whose clock that means.' },
    { name: 'Suspend', type: 'boolean', description: 'Whether it is held.' },
    { name: 'Active', type: 'integer', description: 'How many of its jobs run.' },
    { name: 'Last Schedule', type: 'string', description: 'Time since it last started a job.' },
    ageColumn,
    ...templateColumns,
    selectorColumn,
  ],
  cells(cronJob, { nowMs }) {
    const spec = asFields(cronJob['spec']);
    const status = asFields(cronJob['status']);
    const jobSpec = asFields(asFields(spec['jobTemplate'])['spec']);
    const last = asText(status['lastScheduleTime']);
    return [
      cronJob.metadata.name ?? '',
      asText(spec['schedule']),
      orNone(asText(spec['timeZone'])),
      isSet(spec['suspend']) ? (spec['suspend'] === true ? 'True' : 'False') : '<unset>',
      asItems(status['active']).length,
      last === '' ? '<none>' : ageCell(last, nowMs),
      ageCell(cronJob.metadata.creationTimestamp, nowMs),
      ...templateCells(jobSpec['template']),
      orNone(selectorText(jobSpec['selector'])),
    ];
  },
};

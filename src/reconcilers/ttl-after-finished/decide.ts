import type { Job } from '../../catalog/types/batch.v1.js';

const finals = ['Complete', 'Failed'];

/** The time at which a finished Job is to be deleted; undefined for a Job that stays. */
export function deletionTimeMs({ metadata, spec, status }: Job): number | undefined {
  const seconds = spec?.ttlSecondsAfterFinished;
  if (seconds === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  const finished = (status?.conditions ?? []).find(
    (condition) => finals.includes(condition.type ?? '') && condition.status === 'True',
  );
  const finishedMs = Date.parse(finished?.lastTransitionTime ?? '');
  return Number.isNaN(finishedMs) ? undefined : finishedMs + seconds * 1000;
}

import { asFields, asItems, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';

const finals = ['Complete', 'Failed'];

/** The time at which a finished Job is to be deleted; undefined for a Job that stays. */
export function deletionTimeMs(job: KubeObject): number | undefined {
  const { ttlSecondsAfterFinished: seconds } = asFields(job['spec']);
  if (typeof seconds !== 'number' || job.metadata.deletionTimestamp !== undefined) return undefined;
  const finished = asItems(asFields(job['status'])['conditions']).find(
    ({ type, status }) => finals.includes(asText(type)) && status === 'True',
  );
  const finishedMs = Date.parse(asText(finished?.['lastTransitionTime']));
  return Number.isNaN(finishedMs) ? undefined : finishedMs + seconds * 1000;
}

import type { Job, JobSpec, PodFailurePolicy } from '../../catalog/types/batch.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { fillConditionTimes } from '../core/condition-times.js';
import { defaultPodTemplate } from '../core/pod/pod-template.js';

const unlimited = 2147483647;

export function defaultJob(job: Mutable<Job>): void {
  defaultJobSpec((job.spec ??= {}));
  job.status ??= {};
  fillConditionTimes(job, 'lastProbeTime', 'lastTransitionTime');
}

function defaultJobSpec(spec: Mutable<JobSpec>): void {
  // With parallelism and without completions, a Job is a work queue.
  if (spec.parallelism === undefined) spec.completions ??= 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : unlimited;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.manualSelector ??= false;
  const { podFailurePolicy } = spec;
  spec.podReplacementPolicy ??= podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
  if (podFailurePolicy) defaultFailurePolicy(podFailurePolicy);
  defaultPodTemplate(spec);
}

export function defaultFailurePolicy({ rules }: Mutable<PodFailurePolicy>): void {
  for (const { onPodConditions } of rules ?? []) {
    for (const pattern of onPodConditions ?? []) pattern.status ||= 'True';
  }
}

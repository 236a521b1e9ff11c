import type { Job } from '../../catalog/types/batch.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { path } from '../../machinery/field-error.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { workloadWarnings } from '../core/pod/pod-template.js';
import { validateLabelMap } from '../core/selector.validation.js';
import { JobLabels } from './job-labels.js';
import { validateJobStatus } from './job-status.validation.js';
import { defaultJob } from './job.defaults.js';
import { jobUpdateRule, jobRule } from './job.validation.js';

const templateWarnings = workloadWarnings(({ spec }: Job) => spec?.template, 'spec.template');

export function jobStrategy(naming: NamingProfile): Strategy<Job> {
  const labels = new JobLabels(naming);
  return {
    validateName: nameIsDnsSubdomain,
    countsGenerations: true,
    default(job) {
      defaultJob(job);
      // Without a selector the template does not have all of its labels yet.
      if (job.spec?.selector) takeLabels(job);
    },
    prepareForCreate(job) {
      labels.select(job);
      takeLabels(job);
    },
    validateCreate: jobRule(labels),
    validateUpdate: jobUpdateRule(labels),
    deletion: {
      // As for ReplicationControllers, for compatibility.
      dependents: 'orphan',
      orphanWarning:
        'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
    },
    warnings(job, old) {
      const { completionMode, completions = 0, parallelism = 0 } = job.spec ?? {};
      const texts = templateWarnings(job, old);
      if (completionMode === 'Indexed' && completions > trackedIndexesMax && parallelism > trackedParallelismMax) {
        texts.push(
          'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail',
        );
      }
      return texts;
    },
  };
}

/** Copies the labels of the template to a Job without labels, unless they are invalid: errors then name the template. */
function takeLabels({ metadata, spec }: Mutable<Job>): void {
  const labels = spec?.template?.metadata?.labels;
  const isUsable = labels !== undefined && validateLabelMap(labels, path('labels')).length === 0;
  if (isUsable && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
}

const trackedIndexesMax = 100_000;
const trackedParallelismMax = 10_000;

export const jobStatusSubresource = statusSubresource<Job>({ validate: validateJobStatus });

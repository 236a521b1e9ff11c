import type { NamingProfile } from '../../config/naming-profile.js';
import { path } from '../../machinery/field-error.js';
import { asFields, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { workloadWarnings } from '../core/pod/pod-template.js';
import { validateLabelMap } from '../core/selector.validation.js';
import { JobLabels } from './job-labels.js';
import { validateJobStatus } from './job-status.validation.js';
import { defaultJob } from './job.defaults.js';
import { jobUpdateRule, jobRule } from './job.validation.js';

const templateWarnings = workloadWarnings((job) => asFields(job['spec'])['template'], 'spec.template');

export function jobStrategy(naming: NamingProfile): Strategy {
  const labels = new JobLabels(naming);
  return {
    validateName: nameIsDnsSubdomain,
    countsGenerations: true,
    default(job) {
      defaultJob(job);
      // Before the selector is chosen, the labels of the template are not complete.
      if (isSet(asFields(job['spec'])['selector'])) takeLabels(job);
    },
    prepareForCreate(job) {
      labels.select(job);
      takeLabels(job);
      job['status'] = {};
    },
    prepareForUpdate(job, old) {
      job['status'] = old['status'];
    },
    validateCreate: jobRule(labels),
    validateUpdate: jobUpdateRule(labels),
    deletion: {
      // As for replication controllers, which jobs began like.
      dependents: 'orphan',
      orphanWarning:
        'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
    },
    warnings(job, old) {
      const spec = asFields(job['spec']);
      const completions = Number(spec['completions'] ?? 0);
      const texts = templateWarnings(job, old);
      if (
        spec['completionMode'] === 'Indexed' &&
        completions > indexesWellMet &&
        Number(spec['parallelism']) > parallelWellMet
      ) {
        texts.push(
          'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail',
        );
      }
      return texts;
    },
  };
}

/** A job without labels is labelled as its pods are. What is wrong with those is said of the pods. */
function takeLabels(job: KubeObject): void {
  const { labels } = asFields(asFields(asFields(job['spec'])['template'])['metadata']);
  const isUsable = isSet(labels) && validateLabelMap(labels, path('labels')).length === 0;
  if (isUsable && Object.keys(job.metadata.labels ?? {}).length === 0) {
    job.metadata.labels = { ...(labels as Record<string, string>) };
  }
}

const indexesWellMet = 100_000;
const parallelWellMet = 10_000;

export const jobStatusSubresource = statusSubresource({ validate: validateJobStatus });

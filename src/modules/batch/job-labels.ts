import type { Job } from '../../catalog/types/batch.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { Mutable } from '../../machinery/mutable.js';

/**
 * The labels of the Pods of a Job. Without `manualSelector` the selector of a Job is its own uid, so that no two Jobs
 * select the same Pod. The labels without a domain are deprecated, but still read by clients.
 */
export class JobLabels {
  readonly uid: string;
  readonly name: string;
  readonly oldUid = 'controller-uid';
  readonly oldName = 'job-name';

  constructor(naming: NamingProfile) {
    this.uid = naming.label('controller-uid', 'batch');
    this.name = naming.label('job-name', 'batch');
  }

  /** Returns all labels that the Pods of a Job get. */
  of(job: Job): Record<string, string> {
    const { name = '', uid = '' } = job.metadata;
    return { [this.uid]: uid, [this.name]: name, [this.oldUid]: uid, [this.oldName]: name };
  }

  /** Adds the labels to the Pod template and the uid to the selector, unless they have those keys already. */
  select(job: Mutable<Job>): void {
    const spec = (job.spec ??= {});
    if (spec.manualSelector) return;
    const template = (spec.template ??= {});
    const metadata = (template.metadata ??= {});
    const labels = (metadata.labels ??= {});
    for (const [key, value] of Object.entries(this.of(job))) labels[key] ??= value;
    const selector = (spec.selector ??= {});
    const matchLabels = (selector.matchLabels ??= {});
    matchLabels[this.uid] ??= job.metadata.uid ?? '';
  }
}

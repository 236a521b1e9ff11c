import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, isSet, makeFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';

/**
 * A job knows its pods by its own uid, so that no two jobs ever share one. Who wants to choose says `manualSelector`.
 * The labels without a domain are older; their readers are still about.
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

  /** Every label that the pods of a job get, with what it says. */
  of(job: KubeObject): Record<string, string> {
    const { name = '', uid = '' } = job.metadata;
    return { [this.uid]: uid, [this.name]: name, [this.oldUid]: uid, [this.oldName]: name };
  }

  /** Gives the template its labels and the job its selector, beside what is there already. */
  select(job: KubeObject): void {
    const spec = makeFields(job, 'spec');
    if (spec['manualSelector'] === true) return;
    const metadata = makeFields(makeFields(spec, 'template'), 'metadata');
    const labels = makeFields(metadata, 'labels');
    for (const [key, value] of Object.entries(this.of(job))) if (!isSet(labels[key])) labels[key] = value;
    const matchLabels = makeFields(makeFields(spec, 'selector'), 'matchLabels');
    if (!isSet(asFields(matchLabels)[this.uid])) matchLabels[this.uid] = job.metadata.uid;
  }
}

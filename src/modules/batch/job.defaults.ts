import { asFields, asItems, fillIn, isSet, makeFields, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { fillConditionTimes } from '../core/condition-times.js';
import { defaultPodTemplate } from '../core/pod/pod-template.js';

const unlimited = 2147483647;

export function defaultJob(job: KubeObject): void {
  defaultJobSpec(makeFields(job, 'spec'));
  makeFields(job, 'status');
  fillConditionTimes(job, 'lastProbeTime', 'lastTransitionTime');
}

function defaultJobSpec(spec: Fields): void {
  // One pod, once; but who says how many at a time has not said how many in all.
  if (!isSet(spec['completions']) && !isSet(spec['parallelism'])) spec['completions'] = 1;
  fillIn(spec, 'parallelism', 1);
  fillIn(spec, 'backoffLimit', isSet(spec['backoffLimitPerIndex']) ? unlimited : 6);
  fillIn(spec, 'completionMode', 'NonIndexed');
  fillIn(spec, 'suspend', false);
  fillIn(spec, 'manualSelector', false);
  const failurePolicy = spec['podFailurePolicy'];
  fillIn(spec, 'podReplacementPolicy', isSet(failurePolicy) ? 'Failed' : 'TerminatingOrFailed');
  defaultFailurePolicy(asFields(failurePolicy));
  defaultPodTemplate(spec);
}

export function defaultFailurePolicy(policy: Fields): void {
  for (const rule of asItems(policy['rules'])) {
    for (const pattern of asItems(rule['onPodConditions'])) {
      if (!pattern['status']) pattern['status'] = 'True';
    }
  }
}

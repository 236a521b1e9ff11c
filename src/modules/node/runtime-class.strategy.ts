import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { requiredName } from '../../machinery/field-rules.js';
import { asFields, asItems, asText } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain, validateDnsLabel } from '../../machinery/names.js';
import { repeatedValues } from '../../machinery/value-key.js';
import type { Strategy } from '../../registry/strategy.js';
import { oldNodeLabels } from '../core/old-node-labels.js';
import { validateContainerResources } from '../core/pod/resources.validation.js';
import { validateTolerations } from '../core/pod/scheduling.validation.js';
import { validateLabelMap } from '../core/selector.validation.js';

export function runtimeClassStrategy(naming: NamingProfile): Strategy {
  const problemOf = oldNodeLabels(naming);
  return {
    validateName: nameIsDnsSubdomain,
    validateCreate: validateRuntimeClass,
    validateUpdate: (runtimeClass, old) => [
      ...immutable(runtimeClass['handler'], old['handler'], path('handler')),
      ...validateRuntimeClass(runtimeClass),
    ],
    warnings: (runtimeClass) =>
      Object.keys(asFields(asFields(runtimeClass['scheduling'])['nodeSelector'])).flatMap((label) => {
        const problem = problemOf(label);
        return problem === undefined ? [] : [`scheduling.nodeSelector: ${problem}`];
      }),
  };
}

function validateRuntimeClass(runtimeClass: KubeObject): FieldError[] {
  const { podFixed } = asFields(runtimeClass['overhead']);
  const { nodeSelector, tolerations } = asFields(runtimeClass['scheduling']);
  const schedulingAt = path('scheduling');
  return [
    ...requiredName(asText(runtimeClass['handler']), path('handler'), validateDnsLabel),
    // Clients know what is fixed for a pod as a limit.
    ...validateContainerResources({ limits: podFixed }, path('overhead'), new Set()),
    ...validateLabelMap(nodeSelector, schedulingAt.child('nodeSelector')),
    ...validateTolerations(tolerations, schedulingAt.child('tolerations')),
    ...validateDistinct(tolerations, schedulingAt.child('tolerations')),
  ];
}

function validateDistinct(tolerations: unknown, at: FieldPath): FieldError[] {
  const all = asItems(tolerations);
  const isAgain = repeatedValues(all);
  return all.flatMap((toleration, index) =>
    isAgain[index] ? [fieldError.duplicate(String(at.index(index)), toleration)] : [],
  );
}

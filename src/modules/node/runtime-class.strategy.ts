import type { Toleration } from '../../catalog/types/core.v1.js';
import type { RuntimeClass } from '../../catalog/types/node.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { requiredName } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain, validateDnsLabel } from '../../machinery/names.js';
import { repeatedValues } from '../../machinery/value-key.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { oldNodeLabels } from '../core/old-node-labels.js';
import { validateContainerResources } from '../core/pod/resources.validation.js';
import { validateTolerations } from '../core/pod/scheduling.validation.js';
import { validateLabelMap } from '../core/selector.validation.js';

export function runtimeClassStrategy(naming: NamingProfile): Strategy<RuntimeClass> {
  const problemOf = oldNodeLabels(naming);
  return {
    validateName: nameIsDnsSubdomain,
    validateCreate: validateRuntimeClass,
    validateUpdate: (runtimeClass, old) => [
      ...immutable(runtimeClass.handler, old.handler, path('handler')),
      ...validateRuntimeClass(runtimeClass),
    ],
    warnings: (runtimeClass) =>
      Object.keys(runtimeClass.scheduling?.nodeSelector ?? {}).flatMap((label) => {
        const problem = problemOf(label);
        return problem === undefined ? [] : [`scheduling.nodeSelector: ${problem}`];
      }),
  };
}

function validateRuntimeClass({ handler = '', overhead, scheduling }: RuntimeClass): FieldError[] {
  const { nodeSelector, tolerations = [] } = scheduling ?? {};
  const schedulingAt = path('scheduling');
  return [
    ...requiredName(handler, path('handler'), validateDnsLabel),
    // Errors name the limits, as in kube-apiserver.
    ...validateContainerResources({ limits: overhead?.podFixed }, path('overhead'), new Set()),
    ...validateLabelMap(nodeSelector, schedulingAt.child('nodeSelector')),
    ...validateTolerations(tolerations, schedulingAt.child('tolerations')),
    ...validateDistinct(tolerations, schedulingAt.child('tolerations')),
  ];
}

function validateDistinct(tolerations: readonly Toleration[], at: FieldPath): FieldError[] {
  const isRepeated = repeatedValues(tolerations);
  return tolerations.flatMap((toleration, index) =>
    isRepeated[index] ? [fieldError.duplicate(at.index(index), toleration)] : [],
  );
}

import type { TopologySelectorTerm } from '../../catalog/types/core.v1.js';
import type { StorageClass } from '../../catalog/types/storage.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, oneOf } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';
import { repeatedValues } from '../../machinery/value-key.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { oldNodeLabels } from '../core/old-node-labels.js';
import { validateParameters, validateProvisioner } from './parameters.validation.js';

export function storageClassStrategy(naming: NamingProfile): Strategy<StorageClass> {
  const problemOf = oldNodeLabels(naming);
  return {
    validateName: nameIsDnsSubdomain,
    default(storageClass) {
      storageClass.reclaimPolicy ||= 'Delete';
      storageClass.volumeBindingMode ??= 'Immediate';
    },
    validateCreate: validateStorageClass,
    validateUpdate: (storageClass, old) => [
      ...validateStorageClass(storageClass),
      ...fixedFields.flatMap((field) => immutable(storageClass[field], old[field], path(field))),
    ],
    warnings: (storageClass) => deprecatedLabels(storageClass, problemOf),
  };
}

const fixedFields = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const;

function validateStorageClass(storageClass: StorageClass): FieldError[] {
  return [
    ...validateProvisioner(storageClass.provisioner ?? '', path('provisioner')),
    ...validateParameters(storageClass.parameters, path('parameters')),
    ...oneOf(storageClass.reclaimPolicy, path('reclaimPolicy'), ['Delete', 'Retain']),
    ...oneOf(storageClass.volumeBindingMode, path('volumeBindingMode'), ['Immediate', 'WaitForFirstConsumer']),
    ...validateTopologies(storageClass.allowedTopologies, path('allowedTopologies')),
  ];
}

/** Refuses repeated terms, and terms without expressions with the same error, as kube-apiserver does. */
function validateTopologies(topologies: readonly TopologySelectorTerm[] = [], at: FieldPath): FieldError[] {
  const isRepeated = repeatedValues(topologies);
  return each(topologies, at, validateTerm, ({ matchLabelExpressions = [] }, termAt, index) =>
    isRepeated[index] || matchLabelExpressions.length === 0
      ? [fieldError.duplicate(termAt.child('matchLabelExpressions'), '')]
      : [],
  );
}

function validateTerm({ matchLabelExpressions }: TopologySelectorTerm, at: FieldPath): FieldError[] {
  const seen = new Set<string>();
  return each(matchLabelExpressions, at.child('matchLabelExpressions'), ({ key = '', ...expression }, expressionAt) => {
    const keyAt = expressionAt.child('key');
    const values = expression.values ?? [];
    const valuesAt = expressionAt.child('values');
    const errors: FieldError[] = [];
    if (values.length === 0) errors.push(fieldError.required(valuesAt));
    const isRepeated = repeatedValues(values);
    values.forEach((value, index) => {
      if (isRepeated[index]) errors.push(fieldError.duplicate(valuesAt.index(index), value));
    });
    errors.push(...checked(key, keyAt, validateQualifiedName));
    if (seen.has(key)) errors.push(fieldError.duplicate(keyAt, key));
    seen.add(key);
    return errors;
  });
}

function deprecatedLabels(
  { allowedTopologies = [] }: StorageClass,
  problemOf: (label: string) => string | undefined,
): string[] {
  return allowedTopologies.flatMap(({ matchLabelExpressions = [] }, i) =>
    matchLabelExpressions.flatMap(({ key = '' }, j) => {
      const problem = problemOf(key);
      return problem === undefined ? [] : [`allowedTopologies[${i}].matchLabelExpressions[${j}].key: ${problem}`];
    }),
  );
}

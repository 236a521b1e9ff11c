import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, oneOf } from '../../machinery/field-rules.js';
import { asItems, asText, asTexts, fillIn, fillInZero, type Fields } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';
import { repeatedValues } from '../../machinery/value-key.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { oldNodeLabels } from '../core/old-node-labels.js';
import { validateParameters, validateProvisioner } from './parameters.validation.js';

export function storageClassStrategy(naming: NamingProfile): Strategy {
  const problemOf = oldNodeLabels(naming);
  return {
    validateName: nameIsDnsSubdomain,
    default(storageClass) {
      fillInZero(storageClass, 'reclaimPolicy', 'Delete');
      fillIn(storageClass, 'volumeBindingMode', 'Immediate');
    },
    validateCreate: validateStorageClass,
    validateUpdate: (storageClass, old) => [
      ...validateStorageClass(storageClass),
      ...fixedFields.flatMap((field) => immutable(storageClass[field], old[field], path(field))),
    ],
    warnings: (storageClass) => oldLabels(storageClass, problemOf),
  };
}

const fixedFields = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'];

function validateStorageClass(storageClass: KubeObject): FieldError[] {
  return [
    ...validateProvisioner(asText(storageClass['provisioner']), path('provisioner')),
    ...validateParameters(storageClass['parameters'], path('parameters')),
    ...oneOf(storageClass['reclaimPolicy'], path('reclaimPolicy'), ['Delete', 'Retain']),
    ...oneOf(storageClass['volumeBindingMode'], path('volumeBindingMode'), ['Immediate', 'WaitForFirstConsumer']),
    ...validateTopologies(storageClass['allowedTopologies'], path('allowedTopologies')),
  ];
}

/** A term that selects nothing counts as a repeated one, as in kube-apiserver. */
function validateTopologies(topologies: unknown, at: FieldPath): FieldError[] {
  const isAgain = repeatedValues(asItems(topologies));
  return each(topologies, at, validateTerm, (term, termAt, index) =>
    isAgain[index] || asItems(term['matchLabelExpressions']).length === 0
      ? [fieldError.duplicate(termAt.child('matchLabelExpressions'), '')]
      : [],
  );
}

function validateTerm(term: Fields, at: FieldPath): FieldError[] {
  const seen = new Set<string>();
  return each(term['matchLabelExpressions'], at.child('matchLabelExpressions'), (expression, expressionAt) => {
    const key = asText(expression['key']);
    const keyAt = expressionAt.child('key');
    const values = asTexts(expression['values']);
    const valuesAt = expressionAt.child('values');
    const errors: FieldError[] = [];
    if (values.length === 0) errors.push(fieldError.required(valuesAt));
    const isAgain = repeatedValues(values);
    values.forEach((value, index) => {
      if (isAgain[index]) errors.push(fieldError.duplicate(valuesAt.index(index), value));
    });
    errors.push(...checked(key, keyAt, validateQualifiedName));
    if (seen.has(key)) errors.push(fieldError.duplicate(keyAt, key));
    seen.add(key);
    return errors;
  });
}

function oldLabels(storageClass: KubeObject, problemOf: (label: string) => string | undefined): string[] {
  return asItems(storageClass['allowedTopologies']).flatMap((term, i) =>
    asItems(term['matchLabelExpressions']).flatMap(({ key }, j) => {
      const problem = problemOf(asText(key));
      return problem === undefined ? [] : [`allowedTopologies[${i}].matchLabelExpressions[${j}].key: ${problem}`];
    }),
  );
}

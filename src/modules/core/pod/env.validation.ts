import type { EnvFromSource, EnvVar, EnvVarSource } from '../../../catalog/types/core.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { checked, requiredName } from '../../../machinery/field-rules.js';
import { isSet } from '../../../machinery/fields.js';
import { validateConfigKey, validateDnsSubdomain, validateRelaxedEnvVarName } from '../../../machinery/names.js';
import { fieldsOfVariables, validateFieldRef, validateResourceFieldRef } from './field-ref.validation.js';

const variableSources = [
  'fieldRef',
  'resourceFieldRef',
  'configMapKeyRef',
  'secretKeyRef',
  'fileKeyRef',
] as const satisfies readonly (keyof EnvVarSource)[];

export function validateVariable({ name = '', value = '', valueFrom: source }: EnvVar, at: FieldPath): FieldError[] {
  const errors = requiredName(name, at.child('name'), validateRelaxedEnvVarName);
  if (!source) return errors;
  const sourceAt = at.child('valueFrom');
  const set = variableSources.filter((field) => isSet(source[field]));
  const refuse = (message: string) => errors.push(fieldError.invalid(sourceAt, '', message));
  if (set.length === 0) {
    refuse('must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`');
  } else if (value !== '') refuse('may not be specified when `value` is not empty');
  else if (set.length > 1) refuse('may not have more than one field specified at a time');
  return [...errors, ...validateVariableSource(source, sourceAt)];
}

function validateVariableSource(source: EnvVarSource, at: FieldPath): FieldError[] {
  const { fieldRef, resourceFieldRef } = source;
  return [
    ...(fieldRef ? validateFieldRef(fieldRef, at.child('fieldRef'), fieldsOfVariables) : []),
    ...(resourceFieldRef ? validateResourceFieldRef(resourceFieldRef, at.child('resourceFieldRef'), false) : []),
    ...(['configMapKeyRef', 'secretKeyRef', 'fileKeyRef'] as const).flatMap((field) => {
      const selector = source[field];
      return selector ? requiredName(selector.key ?? '', at.child(field, 'key'), validateConfigKey) : [];
    }),
  ];
}

const envFromSources = ['configMapRef', 'secretRef'] as const;

/** Reports some errors at the list (`at`) and others at its item (`sourceAt`), as kube-apiserver does. */
export function validateEnvFrom(source: EnvFromSource, at: FieldPath, sourceAt: FieldPath): FieldError[] {
  const { prefix = '' } = source;
  const errors = prefix === '' ? [] : checked(prefix, at.child('prefix'), validateRelaxedEnvVarName);
  const set = envFromSources.filter((field) => isSet(source[field]));
  if (set.length === 0) errors.push(fieldError.invalid(at, '', 'must specify one of: `configMapRef` or `secretRef`'));
  if (set.length > 1) {
    errors.push(fieldError.invalid(at, '', 'may not have more than one field specified at a time'));
  }
  for (const field of set) {
    errors.push(...requiredName(source[field]?.name ?? '', sourceAt.child(field, 'name'), validateDnsSubdomain));
  }
  return errors;
}

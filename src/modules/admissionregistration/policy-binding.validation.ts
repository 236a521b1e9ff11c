import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, duplicates, oneOf, required, requiredName } from '../../machinery/field-rules.js';
import { asFields, asText, asTexts, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain, validatePathSegment } from '../../machinery/names.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';
import { validateMatchResources } from './match.validation.js';

const actions = ['Audit', 'Deny', 'Warn'];

export function validateMutatingBinding(binding: KubeObject): FieldError[] {
  const { policyName, paramRef, matchResources } = asFields(binding['spec']);
  const at = path('spec');
  return [
    ...requiredName(asText(policyName), at.child('policyName'), nameIsDnsSubdomain),
    ...(isSet(paramRef) ? validateParamRef(asFields(paramRef), at.child('paramRef')) : []),
    ...validateMatchResources(matchResources, at.child('matchResources')),
  ];
}

export function validateValidatingBinding(binding: KubeObject): FieldError[] {
  const given = asTexts(asFields(binding['spec'])['validationActions']);
  const at = path('spec').child('validationActions');
  const errors = validateMutatingBinding(binding);
  if (given.length === 0) errors.push(...required(undefined, at, 'at least one validation action is required'));
  errors.push(
    ...given.flatMap((action, index) => oneOf(action, at.index(index), actions)),
    ...duplicates(
      given,
      (action) => action,
      (index) => at.index(index),
    ),
  );
  if (given.includes('Deny') && given.includes('Warn')) {
    const message =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.push(fieldError.invalid(at, given, message));
  }
  return errors;
}

function validateParamRef({ name, selector, parameterNotFoundAction }: Fields, at: FieldPath): FieldError[] {
  const text = asText(name);
  const errors = checked(text, at.child('name'), validatePathSegment);
  if (text !== '' && isSet(selector)) {
    for (const field of ['name', 'selector']) {
      errors.push(fieldError.forbidden(at.child(field), 'name and selector are mutually exclusive'));
    }
  }
  if (text === '' && !isSet(selector)) errors.push(...required('', at, 'one of name or selector must be specified'));
  const action = asText(parameterNotFoundAction);
  const where = at.child('parameterNotFoundAction');
  return [
    ...errors,
    ...validateLabelSelectorObject(selector, at.child('selector')),
    ...(action === '' ? required(action, where) : oneOf(action, where, ['Allow', 'Deny'])),
  ];
}

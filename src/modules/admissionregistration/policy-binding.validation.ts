import type { ParamRef, ValidatingAdmissionPolicyBinding } from '../../catalog/types/admissionregistration.v1.js';
import type { MutatingAdmissionPolicyBinding } from '../../catalog/types/admissionregistration.v1beta1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, duplicates, oneOf, required, requiredName } from '../../machinery/field-rules.js';
import { nameIsDnsSubdomain, validatePathSegment } from '../../machinery/names.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';
import { validateMatchResources, validateMutatingOperations } from './match.validation.js';

const supportedActions = ['Audit', 'Deny', 'Warn'];

const at = path('spec');

export function validateMutatingBinding(binding: MutatingAdmissionPolicyBinding): FieldError[] {
  const matchAt = at.child('matchResources');
  return [...validateCommon(binding), ...validateMutatingOperations(binding.spec?.matchResources, matchAt)];
}

/** Validates the fields that both kinds of bindings have. */
function validateCommon({ spec = {} }: MutatingAdmissionPolicyBinding): FieldError[] {
  const { policyName = '', paramRef, matchResources } = spec;
  return [
    ...requiredName(policyName, at.child('policyName'), nameIsDnsSubdomain),
    ...(paramRef ? validateParamRef(paramRef, at.child('paramRef')) : []),
    ...validateMatchResources(matchResources, at.child('matchResources')),
  ];
}

export function validateValidatingBinding(binding: ValidatingAdmissionPolicyBinding): FieldError[] {
  const { validationActions: actions = [] } = binding.spec ?? {};
  const actionsAt = at.child('validationActions');
  const errors = validateCommon(binding);
  if (actions.length === 0)
    errors.push(...required(undefined, actionsAt, 'at least one validation action is required'));
  errors.push(
    ...actions.flatMap((action, index) => oneOf(action, actionsAt.index(index), supportedActions)),
    ...duplicates(
      actions,
      (action) => action,
      (index) => actionsAt.index(index),
    ),
  );
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const message =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.push(fieldError.invalid(actionsAt, actions, message));
  }
  return errors;
}

function validateParamRef(
  { name = '', selector, parameterNotFoundAction: action = '' }: ParamRef,
  at: FieldPath,
): FieldError[] {
  const errors = checked(name, at.child('name'), validatePathSegment);
  if (name !== '' && selector) {
    for (const field of ['name', 'selector']) {
      errors.push(fieldError.forbidden(at.child(field), 'name and selector are mutually exclusive'));
    }
  }
  if (name === '' && !selector) errors.push(...required('', at, 'one of name or selector must be specified'));
  const actionAt = at.child('parameterNotFoundAction');
  return [
    ...errors,
    ...validateLabelSelectorObject(selector, at.child('selector')),
    ...(action === '' ? required(action, actionAt) : oneOf(action, actionAt, ['Deny', 'Allow'])),
  ];
}

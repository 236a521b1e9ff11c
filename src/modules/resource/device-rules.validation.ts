import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, oneOf, required } from '../../machinery/field-rules.js';
import { asFields, asText, isSet, type Fields } from '../../machinery/fields.js';
import { validateLabelValue, validateQualifiedName } from '../../machinery/names.js';
import { validateDriverName } from '../storage/parameters.validation.js';
import { validateList } from './lists.validation.js';

const selectorsMax = 32;
const expressionBytesMax = 10 * 1024;
const parametersBytesMax = 10 * 1024;
const tolerationsMax = 16;

/** What a device can do to those who do not tolerate it; an effect of nothing needs no toleration. */
const taintEffects = ['NoExecute', 'NoSchedule', 'None'];
const toleratedEffects = ['NoExecute', 'NoSchedule'];

export function validateSelectors(selectors: unknown, at: FieldPath): FieldError[] {
  return validateList(selectors, selectorsMax, at, (selector, selectorAt) => {
    const celAt = selectorAt.child('cel');
    if (!isSet(selector['cel'])) return required(undefined, celAt);
    return validateExpression(asText(asFields(selector['cel'])['expression']), celAt.child('expression'));
  });
}

function validateExpression(expression: string, at: FieldPath): FieldError[] {
  if (expression === '') return required(expression, at);
  return Buffer.byteLength(expression) > expressionBytesMax ? [fieldError.tooLong(String(at), expressionBytesMax)] : [];
}

/** Settings for a driver, who alone understands them. */
export function validateConfiguration(configuration: Fields, at: FieldPath): FieldError[] {
  const opaqueAt = at.child('opaque');
  if (!isSet(configuration['opaque'])) return required(undefined, opaqueAt);
  const { driver, parameters } = asFields(configuration['opaque']);
  return [
    ...validateDriverName(asText(driver), opaqueAt.child('driver')),
    ...(isSet(parameters)
      ? validateRawObject(parameters, opaqueAt.child('parameters'))
      : required(undefined, opaqueAt.child('parameters'))),
  ];
}

export function validateRawObject(value: unknown, at: FieldPath): FieldError[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [fieldError.invalid(String(at), value, 'must be a valid JSON object')];
  }
  // eslint-disable-next-line no-restricted-syntax -- only its length is wanted
  return Buffer.byteLength(JSON.stringify(value)) > parametersBytesMax
    ? [fieldError.tooLong(String(at), parametersBytesMax)]
    : [];
}

export function validateDeviceTolerations(tolerations: unknown, at: FieldPath): FieldError[] {
  return validateList(tolerations, tolerationsMax, at, (toleration, tolerationAt) => {
    const [key, operator, value, effect] = ['key', 'operator', 'value', 'effect'].map((field) =>
      asText(toleration[field]),
    ) as [string, string, string, string];
    const errors = key === '' ? [] : checked(key, tolerationAt.child('key'), validateQualifiedName);
    errors.push(...oneOf(operator, tolerationAt.child('operator'), ['Equal', 'Exists']));
    if (operator === 'Exists' && value !== '') {
      const where = String(tolerationAt.child('value'));
      errors.push(fieldError.invalid(where, value, 'must be empty for operator `Exists`'));
    }
    if (operator === 'Equal') {
      if (key === '')
        errors.push(...required(key, tolerationAt.child('key'), 'must not be empty for operator `Equal`'));
      errors.push(...checked(value, tolerationAt.child('value'), validateLabelValue));
    }
    return effect === '' ? errors : [...errors, ...oneOf(effect, tolerationAt.child('effect'), toleratedEffects)];
  });
}

export function validateDeviceTaint(taint: Fields, at: FieldPath): FieldError[] {
  const effect = asText(taint['effect']);
  const effectAt = at.child('effect');
  return [
    ...checked(asText(taint['key']), at.child('key'), validateQualifiedName),
    ...checked(asText(taint['value']), at.child('value'), validateLabelValue),
    ...(effect === '' ? required(effect, effectAt) : oneOf(effect, effectAt, taintEffects)),
  ];
}

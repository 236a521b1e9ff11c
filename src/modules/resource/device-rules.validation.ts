import type {
  DeviceConfiguration,
  DeviceSelector,
  DeviceTaint,
  DeviceToleration,
} from '../../catalog/types/resource.v1.js';
import { compileDeviceSelector, deviceSelectorCostMax } from '../../expressions/device-selector.js';
import type { ExpressionMode } from '../../expressions/environment.js';
import { expressionErrors } from '../../expressions/expression-errors.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, oneOf, required } from '../../machinery/field-rules.js';
import { isSet } from '../../machinery/fields.js';
import { validateLabelValue, validateQualifiedName } from '../../machinery/names.js';
import type { Steps } from '../../std/steps.js';
import { validateDriverName } from '../storage/parameters.validation.js';
import { validateList, validateListInSteps } from './lists.validation.js';

const selectorsMax = 32;
const expressionBytesMax = 10 * 1024;
const parametersBytesMax = 10 * 1024;
const tolerationsMax = 16;

/** The effects of taints. Nothing has to tolerate the effect `None`. */
const taintEffects = ['NoExecute', 'NoSchedule', 'None'];
const toleratedEffects = ['NoExecute', 'NoSchedule'];

/** Validates in steps, since every expression is compiled. */
export function validateSelectors(
  selectors: readonly DeviceSelector[] | undefined,
  at: FieldPath,
  mode: ExpressionMode,
): Steps<FieldError[]> {
  return validateListInSteps(selectors, selectorsMax, at, ({ cel }, selectorAt) => {
    const celAt = selectorAt.child('cel');
    if (!cel) return required(undefined, celAt);
    return validateExpression(cel.expression ?? '', celAt.child('expression'), mode);
  });
}

function* validateExpression(expression: string, at: FieldPath, mode: ExpressionMode): Steps<FieldError[]> {
  if (Buffer.byteLength(expression) > expressionBytesMax) return [fieldError.tooLong(at, expressionBytesMax)];
  const compiled = yield* compileDeviceSelector(expression, mode);
  if (compiled.problem || compiled.costMax <= deviceSelectorCostMax) return expressionErrors(compiled, expression, at);
  return [fieldError.forbidden(at, 'too complex, exceeds cost limit')];
}

/** Validates parameters that only their driver can interpret. */
export function validateConfiguration({ opaque }: DeviceConfiguration, at: FieldPath): FieldError[] {
  const opaqueAt = at.child('opaque');
  if (!opaque) return required(undefined, opaqueAt);
  const { driver = '', parameters } = opaque;
  return [
    ...validateDriverName(driver, opaqueAt.child('driver')),
    ...(isSet(parameters)
      ? validateRawObject(parameters, opaqueAt.child('parameters'))
      : required(undefined, opaqueAt.child('parameters'))),
  ];
}

export function validateRawObject(value: unknown, at: FieldPath): FieldError[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [fieldError.invalid(at, value, 'must be a valid JSON object')];
  }
  // eslint-disable-next-line no-restricted-syntax -- only its length is wanted
  return Buffer.byteLength(JSON.stringify(value)) > parametersBytesMax
    ? [fieldError.tooLong(at, parametersBytesMax)]
    : [];
}

export function validateDeviceTolerations(
  tolerations: readonly DeviceToleration[] | undefined,
  at: FieldPath,
): FieldError[] {
  return validateList(tolerations, tolerationsMax, at, (toleration, tolerationAt) => {
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    const errors = key === '' ? [] : checked(key, tolerationAt.child('key'), validateQualifiedName);
    errors.push(...oneOf(operator, tolerationAt.child('operator'), ['Equal', 'Exists']));
    if (operator === 'Exists' && value !== '') {
      errors.push(fieldError.invalid(tolerationAt.child('value'), value, 'must be empty for operator `Exists`'));
    }
    if (operator === 'Equal') {
      if (key === '')
        errors.push(...required(key, tolerationAt.child('key'), 'must not be empty for operator `Equal`'));
      errors.push(...checked(value, tolerationAt.child('value'), validateLabelValue));
    }
    return effect === '' ? errors : [...errors, ...oneOf(effect, tolerationAt.child('effect'), toleratedEffects)];
  });
}

export function validateDeviceTaint({ key = '', value = '', effect = '' }: DeviceTaint, at: FieldPath): FieldError[] {
  const effectAt = at.child('effect');
  return [
    ...checked(key, at.child('key'), validateQualifiedName),
    ...checked(value, at.child('value'), validateLabelValue),
    ...(effect === '' ? required(effect, effectAt) : oneOf(effect, effectAt, taintEffects)),
  ];
}

import { path, fieldError, type FieldError } from '../../machinery/field-error.js';
import { notNegative } from '../../machinery/field-rules.js';
import { asFields, asNumber, asText, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/strategy.js';
import { validateStrategyName } from './strategy-name.validation.js';

export const leaseStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  validateCreate: validateLease,
  validateUpdate: validateLease,
};

function validateLease(lease: KubeObject): FieldError[] {
  const spec = asFields(lease['spec']);
  const at = path('spec');
  const { leaseDurationSeconds: seconds, strategy, preferredHolder } = spec;
  const errors = [
    ...(isSet(seconds) && asNumber(seconds) <= 0
      ? [fieldError.invalid(String(at.child('leaseDurationSeconds')), seconds, 'must be greater than 0')]
      : []),
    ...notNegative(spec['leaseTransitions'], at.child('leaseTransitions')),
  ];
  if (isSet(strategy)) errors.push(...validateStrategyName(asText(strategy), at.child('strategy')));
  if (asText(preferredHolder) !== '' && asText(strategy) === '') {
    const message = 'may only be specified if `strategy` is defined';
    errors.push(fieldError.forbidden(String(at.child('preferredHolder')), message));
  }
  return errors;
}

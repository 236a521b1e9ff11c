import type { Lease } from '../../catalog/types/coordination.v1.js';
import { path, fieldError, type FieldError } from '../../machinery/field-error.js';
import { notNegative } from '../../machinery/field-rules.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateStrategyName } from './strategy-name.validation.js';

export const leaseStrategy: Strategy<Lease> = {
  validateName: nameIsDnsSubdomain,
  validateCreate: validateLease,
  validateUpdate: validateLease,
};

function validateLease({ spec = {} }: Lease): FieldError[] {
  const at = path('spec');
  const { leaseDurationSeconds: seconds, leaseTransitions, strategy, preferredHolder } = spec;
  const errors = [
    ...(seconds !== undefined && seconds <= 0
      ? [fieldError.invalid(at.child('leaseDurationSeconds'), seconds, 'must be greater than 0')]
      : []),
    ...notNegative(leaseTransitions, at.child('leaseTransitions')),
  ];
  if (strategy !== undefined) errors.push(...validateStrategyName(strategy, at.child('strategy')));
  if (preferredHolder && !strategy) {
    const message = 'may only be specified if `strategy` is defined';
    errors.push(fieldError.forbidden(at.child('preferredHolder'), message));
  }
  return errors;
}

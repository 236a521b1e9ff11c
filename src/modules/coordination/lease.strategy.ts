import { path, fieldError, type FieldError } from '../../machinery/field-error.js';
import { notNegative } from '../../machinery/field-rules.js';
import { asFields, asNumber, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/strategy.js';

export const leaseStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  prepareForCreate: (lease) => dropCoordinated(lease, undefined),
  prepareForUpdate: dropCoordinated,
  validateCreate: validateLease,
  validateUpdate: validateLease,
};

const coordinatedFields = ['strategy', 'preferredHolder'];

/** Fields of coordinated leader election (KEP-4355), which this server does not offer: only who has them keeps them. */
function dropCoordinated(lease: KubeObject, old: KubeObject | undefined): void {
  const before = asFields(old?.['spec']);
  if (coordinatedFields.some((field) => isSet(before[field]))) return;
  const spec = asFields(lease['spec']);
  for (const field of coordinatedFields) delete spec[field];
}

function validateLease(lease: KubeObject): FieldError[] {
  const spec = asFields(lease['spec']);
  const at = path('spec');
  const { leaseDurationSeconds: seconds } = spec;
  return [
    ...(isSet(seconds) && asNumber(seconds) <= 0
      ? [fieldError.invalid(String(at.child('leaseDurationSeconds')), seconds, 'must be greater than 0')]
      : []),
    ...notNegative(spec['leaseTransitions'], at.child('leaseTransitions')),
  ];
}

import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { each, oneOf, required } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, asTexts, fillIn, isSet, makeFields, type Fields } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';

const at = path('spec');

export const csiDriverStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  default: defaultDriver,
  /** Its generation counts changes only: a new driver has none. */
  prepareForUpdate(driver, old) {
    if (!deepEqual(driver['spec'], old['spec'])) driver.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  validateCreate: validateDriver,
  validateUpdate(driver, old) {
    const spec = asFields(driver['spec']);
    const before = asFields(old['spec']);
    const modes = 'volumeLifecycleModes';
    return [
      ...validateDriver(driver),
      // Clients know the field by this name, wrong as it is.
      ...immutable(spec['attachRequired'], before['attachRequired'], at.child('attachedRequired')),
      ...immutable(spec[modes], before[modes], at.child(modes)),
    ];
  },
  warnings(driver) {
    const spec = asFields(driver['spec']);
    if (asItems(spec['tokenRequests']).length === 0 || isSet(spec['serviceAccountTokenInSecrets'])) return [];
    return [
      'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
    ];
  },
};

function defaultDriver(driver: Fields): void {
  const spec = makeFields(driver, 'spec');
  fillIn(spec, 'attachRequired', true);
  for (const field of ['podInfoOnMount', 'storageCapacity', 'requiresRepublish', 'seLinuxMount']) {
    fillIn(spec, field, false);
  }
  fillIn(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType');
  if (asTexts(spec['volumeLifecycleModes']).length === 0) spec['volumeLifecycleModes'] = ['Persistent'];
}

const modes = ['Persistent', 'Ephemeral'];
const updatePeriodSecondsMin = 10;

function validateDriver(driver: KubeObject): FieldError[] {
  const spec = asFields(driver['spec']);
  const { nodeAllocatableUpdatePeriodSeconds: period, serviceAccountTokenInSecrets: inSecrets } = spec;
  const errors = [
    ...required(spec['attachRequired'], at.child('attachedRequired')),
    ...['podInfoOnMount', 'storageCapacity', 'fsGroupPolicy'].flatMap((field) =>
      required(spec[field], at.child(field)),
    ),
    ...oneOf(spec['fsGroupPolicy'], at.child('fsGroupPolicy'), ['File', 'None', 'ReadWriteOnceWithFSType']),
    ...asTexts(spec['volumeLifecycleModes']).flatMap((mode) => oneOf(mode, at.child('volumeLifecycleModes'), modes)),
    ...validateTokenRequests(spec['tokenRequests'], at.child('tokenRequests')),
  ];
  if (typeof period === 'number' && period < updatePeriodSecondsMin) {
    const where = String(at.child('nodeAllocatableUpdatePeriodSeconds'));
    errors.push(
      fieldError.invalid(where, period, `must be greater than or equal to ${updatePeriodSecondsMin} seconds`),
    );
  }
  if (isSet(inSecrets) && asItems(spec['tokenRequests']).length === 0) {
    const where = String(at.child('serviceAccountTokenInSecrets'));
    errors.push(fieldError.invalid(where, inSecrets, 'must not be set when there are no TokenRequests configured'));
  }
  return errors;
}

const tokenSecondsMin = 600;
const tokenSecondsMax = 2 ** 32;

function validateTokenRequests(requests: unknown, requestsAt: FieldPath): FieldError[] {
  const audiences = new Set<string>();
  return each(requests, requestsAt, (request, requestAt) => {
    const audience = asText(request['audience']);
    const { expirationSeconds: seconds } = request;
    const secondsAt = String(requestAt.child('expirationSeconds'));
    const errors: FieldError[] = [];
    if (audiences.has(audience)) errors.push(fieldError.duplicate(requestAt.child('audience'), audience));
    audiences.add(audience);
    if (typeof seconds === 'number' && seconds < tokenSecondsMin) {
      errors.push(fieldError.invalid(secondsAt, seconds, 'may not specify a duration less than 10 minutes'));
    }
    if (typeof seconds === 'number' && seconds > tokenSecondsMax) {
      errors.push(fieldError.invalid(secondsAt, seconds, 'may not specify a duration larger than 2^32 seconds'));
    }
    return errors;
  });
}

import type { CSIDriver, TokenRequest } from '../../catalog/types/storage.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { each, oneOf, required } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import { nextGeneration } from '../../machinery/int64.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';

const at = path('spec');

export const csiDriverStrategy: Strategy<CSIDriver> = {
  validateName: nameIsDnsSubdomain,
  default: defaultDriver,
  /** Counts changes in the generation; a new driver has none. */
  prepareForUpdate(driver, old) {
    if (!deepEqual(driver.spec, old.spec)) driver.metadata.generation = nextGeneration(old.metadata.generation);
  },
  validateCreate: validateDriver,
  validateUpdate(driver, old) {
    const { attachRequired, volumeLifecycleModes } = driver.spec ?? {};
    const before = old.spec ?? {};
    return [
      ...validateDriver(driver),
      // The message has this name of the field in kube-apiserver too.
      ...immutable(attachRequired, before.attachRequired, at.child('attachedRequired')),
      ...immutable(volumeLifecycleModes, before.volumeLifecycleModes, at.child('volumeLifecycleModes')),
    ];
  },
  warnings({ spec = {} }) {
    const { tokenRequests = [], serviceAccountTokenInSecrets } = spec;
    if (tokenRequests.length === 0 || serviceAccountTokenInSecrets !== undefined) return [];
    return [
      'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
    ];
  },
};

function defaultDriver(driver: Mutable<CSIDriver>): void {
  const spec = (driver.spec ??= {});
  spec.attachRequired ??= true;
  spec.podInfoOnMount ??= false;
  spec.storageCapacity ??= false;
  spec.requiresRepublish ??= false;
  spec.seLinuxMount ??= false;
  spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
  if (!spec.volumeLifecycleModes?.length) spec.volumeLifecycleModes = ['Persistent'];
}

const modes = ['Persistent', 'Ephemeral'];
const updatePeriodSecondsMin = 10;

function validateDriver({ spec = {} }: CSIDriver): FieldError[] {
  const { volumeLifecycleModes = [], tokenRequests = [] } = spec;
  const { nodeAllocatableUpdatePeriodSeconds: period, serviceAccountTokenInSecrets: inSecrets } = spec;
  const errors = [
    ...required(spec.attachRequired, at.child('attachedRequired')),
    ...required(spec.podInfoOnMount, at.child('podInfoOnMount')),
    ...required(spec.storageCapacity, at.child('storageCapacity')),
    ...required(spec.fsGroupPolicy, at.child('fsGroupPolicy')),
    ...oneOf(spec.fsGroupPolicy, at.child('fsGroupPolicy'), ['File', 'None', 'ReadWriteOnceWithFSType']),
    ...volumeLifecycleModes.flatMap((mode) => oneOf(mode, at.child('volumeLifecycleModes'), modes)),
    ...validateTokenRequests(tokenRequests, at.child('tokenRequests')),
  ];
  if (period !== undefined && period < updatePeriodSecondsMin) {
    const periodAt = at.child('nodeAllocatableUpdatePeriodSeconds');
    errors.push(
      fieldError.invalid(periodAt, period, `must be greater than or equal to ${updatePeriodSecondsMin} seconds`),
    );
  }
  if (inSecrets !== undefined && tokenRequests.length === 0) {
    const inSecretsAt = at.child('serviceAccountTokenInSecrets');
    errors.push(
      fieldError.invalid(inSecretsAt, inSecrets, 'must not be set when there are no TokenRequests configured'),
    );
  }
  return errors;
}

const tokenSecondsMin = 600;
const tokenSecondsMax = 2 ** 32;

function validateTokenRequests(requests: readonly TokenRequest[], requestsAt: FieldPath): FieldError[] {
  const audiences = new Set<string>();
  return each(requests, requestsAt, ({ audience = '', expirationSeconds: seconds }, requestAt) => {
    const secondsAt = requestAt.child('expirationSeconds');
    const errors: FieldError[] = [];
    if (audiences.has(audience)) errors.push(fieldError.duplicate(requestAt.child('audience'), audience));
    audiences.add(audience);
    if (seconds !== undefined && seconds < tokenSecondsMin) {
      errors.push(fieldError.invalid(secondsAt, seconds, 'may not specify a duration less than 10 minutes'));
    }
    if (seconds !== undefined && seconds > tokenSecondsMax) {
      errors.push(fieldError.invalid(secondsAt, seconds, 'may not specify a duration larger than 2^32 seconds'));
    }
    return errors;
  });
}

import { validateConditions } from '../../machinery/condition-validation.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, fillIn, isSet, makeFields, type Fields } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateDriverName } from '../storage/parameters.validation.js';
import { validateList } from './lists.validation.js';
import { validatePoolName } from './names.validation.js';

const at = path('spec');
const limitDefault = 100;
const limitMax = 1000;

/** Asked once, answered once: how full the pools of a driver are. */
export const poolStatusRequestStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: (request) => fillIn(makeFields(request, 'spec'), 'limit', limitDefault),
  prepareForCreate(request) {
    delete request['status'];
  },
  prepareForUpdate(request, old) {
    if (old['status'] === undefined) delete request['status'];
    else request['status'] = old['status'];
  },
  validateCreate: validateRequest,
  validateUpdate: (request, old) => immutable(request['spec'], old['spec'], at),
};

function validateRequest(request: KubeObject): FieldError[] {
  const { driver, poolName, limit } = asFields(request['spec']);
  return [
    ...validateDriverName(asText(driver), at.child('driver')),
    ...(isSet(poolName) ? validatePoolName(asText(poolName), at.child('poolName')) : []),
    ...atLeast(1, limit, at.child('limit')),
    ...(asNumber(limit) > limitMax
      ? [fieldError.invalid(String(at.child('limit')), limit, `must be less than or equal to ${limitMax}`)]
      : []),
  ];
}

function atLeast(min: number, value: unknown, valueAt: FieldPath): FieldError[] {
  if (typeof value !== 'number' || value >= min) return [];
  return [fieldError.invalid(String(valueAt), value, `must be greater than or equal to ${min}`)];
}

const statusAt = path('status');
const poolsMax = 1000;
const conditionsMax = 10;
const validationErrorBytesMax = 256;

export const poolStatusSubresource = statusSubresource({
  keepsMetadata: true,
  validate(request, old) {
    if (isSet(old['status'])) return immutable(request['status'], old['status'], statusAt);
    if (!isSet(request['status'])) return [];
    const { poolCount, pools, conditions } = asFields(request['status']);
    const conditionsAt = statusAt.child('conditions');
    const count = asItems(conditions).length;
    return [
      ...required(poolCount, statusAt.child('poolCount')),
      ...atLeast(0, poolCount, statusAt.child('poolCount')),
      ...validateList(pools, poolsMax, statusAt.child('pools'), validatePool),
      ...(count > conditionsMax ? [fieldError.tooMany(String(conditionsAt), count, conditionsMax)] : []),
      ...validateConditions(conditions, conditionsAt),
    ];
  },
});

function validatePool(pool: Fields, poolAt: FieldPath): FieldError[] {
  const { nodeName, validationError } = pool;
  const counts = ['generation', 'totalDevices', 'allocatedDevices', 'availableDevices', 'unavailableDevices'];
  return [
    ...validateDriverName(asText(pool['driver']), poolAt.child('driver')),
    ...validatePoolName(asText(pool['poolName']), poolAt.child('poolName')),
    ...counts.flatMap((field) => atLeast(0, pool[field], poolAt.child(field))),
    ...atLeast(1, pool['resourceSliceCount'], poolAt.child('resourceSliceCount')),
    ...(isSet(nodeName) ? checked(asText(nodeName), poolAt.child('nodeName'), nameIsDnsSubdomain) : []),
    ...(Buffer.byteLength(asText(validationError)) > validationErrorBytesMax
      ? [fieldError.tooLong(String(poolAt.child('validationError')), validationErrorBytesMax)]
      : []),
  ];
}

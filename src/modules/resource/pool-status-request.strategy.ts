import type { PoolStatus, ResourcePoolStatusRequest } from '../../catalog/types/resource.v1alpha3.js';
import { validateConditions } from '../../machinery/condition-validation.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import type { Int64 } from '../../machinery/int64.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateDriverName } from '../storage/parameters.validation.js';
import { validateList } from './lists.validation.js';
import { validatePoolName } from './names.validation.js';

const at = path('spec');
const limitDefault = 100;
const limitMax = 1000;

/** A request for the usage of a driver's pools: its spec is immutable, and its status once it is set. */
export const poolStatusRequestStrategy: Strategy<ResourcePoolStatusRequest> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default(request) {
    const spec = (request.spec ??= {});
    spec.limit ??= limitDefault;
  },
  initialStatus: () => undefined,
  validateCreate: validateRequest,
  validateUpdate: (request, old) => immutable(request.spec, old.spec, at),
};

function validateRequest({ spec = {} }: ResourcePoolStatusRequest): FieldError[] {
  const { driver = '', poolName, limit = 0 } = spec;
  return [
    ...validateDriverName(driver, at.child('driver')),
    ...(poolName === undefined ? [] : validatePoolName(poolName, at.child('poolName'))),
    ...atLeast(1, spec.limit, at.child('limit')),
    ...(limit > limitMax
      ? [fieldError.invalid(at.child('limit'), limit, `must be less than or equal to ${limitMax}`)]
      : []),
  ];
}

function atLeast(min: number, value: Int64 | undefined, valueAt: FieldPath): FieldError[] {
  if (value === undefined || value >= min) return [];
  return [fieldError.invalid(valueAt, value, `must be greater than or equal to ${min}`)];
}

const statusAt = path('status');
const poolsMax = 1000;
const conditionsMax = 10;
const validationErrorBytesMax = 256;

export const poolStatusSubresource = statusSubresource<ResourcePoolStatusRequest>({
  keepsMetadata: true,
  validate({ status }, old) {
    if (old.status) return immutable(status, old.status, statusAt);
    if (!status) return [];
    const { poolCount, pools, conditions = [] } = status;
    const conditionsAt = statusAt.child('conditions');
    const count = conditions.length;
    return [
      ...required(poolCount, statusAt.child('poolCount')),
      ...atLeast(0, poolCount, statusAt.child('poolCount')),
      ...validateList(pools, poolsMax, statusAt.child('pools'), validatePool),
      ...(count > conditionsMax ? [fieldError.tooMany(conditionsAt, count, conditionsMax)] : []),
      ...validateConditions(conditions, conditionsAt),
    ];
  },
});

const countFields = [
  'generation',
  'totalDevices',
  'allocatedDevices',
  'availableDevices',
  'unavailableDevices',
] as const;

function validatePool(pool: PoolStatus, poolAt: FieldPath): FieldError[] {
  const { driver = '', poolName = '', nodeName, validationError = '' } = pool;
  return [
    ...validateDriverName(driver, poolAt.child('driver')),
    ...validatePoolName(poolName, poolAt.child('poolName')),
    ...countFields.flatMap((field) => atLeast(0, pool[field], poolAt.child(field))),
    ...atLeast(1, pool.resourceSliceCount, poolAt.child('resourceSliceCount')),
    ...(nodeName === undefined ? [] : checked(nodeName, poolAt.child('nodeName'), nameIsDnsSubdomain)),
    ...(Buffer.byteLength(validationError) > validationErrorBytesMax
      ? [fieldError.tooLong(poolAt.child('validationError'), validationErrorBytesMax)]
      : []),
  ];
}

import type { ResourcePool, ResourceSliceSpec } from '../../catalog/types/resource.v1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { requiredName } from '../../machinery/field-rules.js';
import type { Int64 } from '../../machinery/int64.js';
import { validateDnsLabel } from '../../machinery/names.js';
import { validateDriverName } from '../storage/parameters.validation.js';
import { validateCounters } from './counters.validation.js';
import { validateDevice } from './device.validation.js';
import { validateKeyedList } from './lists.validation.js';
import { validatePoolName } from './names.validation.js';
import { validateNodeChoice } from './node-choice.validation.js';

const at = path('spec');
const devicesMax = 128;
/** The limit if a device has taints or consumes counters, which the scheduler needs more time for. */
const advancedDevicesMax = 64;
const counterSetsMax = 8;

export function validateSliceSpec(spec: ResourceSliceSpec): FieldError[] {
  const { driver = '', pool = {}, devices = [], sharedCounters = [] } = spec;
  const isAdvanced = devices.some(
    ({ taints = [], consumesCounters = [] }) => taints.length > 0 || consumesCounters.length > 0,
  );
  const isPerDevice = spec.perDeviceNodeSelection === true;
  const errors = [
    ...validateDriverName(driver, at.child('driver')),
    ...validatePool(pool, at.child('pool')),
    ...validateNodeChoice(spec, at, ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection']),
  ];
  if (devices.length > 0 && sharedCounters.length > 0) {
    const message = 'only one of `sharedCounters` or `devices` is allowed';
    errors.push(fieldError.invalid(at, '{`sharedCounters`, `devices`}', message));
  }
  return [
    ...errors,
    ...validateKeyedList(
      devices,
      { max: isAdvanced ? advancedDevicesMax : devicesMax, key: 'name', at: at.child('devices') },
      (device, deviceAt) => validateDevice(device, deviceAt, isPerDevice),
    ),
    ...validateKeyedList(
      sharedCounters,
      { max: counterSetsMax, key: 'name', at: at.child('sharedCounters') },
      ({ name = '', counters }, setAt) => [
        ...requiredName(name, setAt.child('name'), validateDnsLabel),
        ...validateCounters(counters, setAt.child('counters')),
      ],
    ),
  ];
}

function validatePool({ name = '', ...pool }: ResourcePool, poolAt: FieldPath): FieldError[] {
  const { resourceSliceCount: count = 0, generation = 0 } = pool;
  const refuse = (field: string, value: Int64, message: string) =>
    fieldError.invalid(poolAt.child(field), value, message);
  return [
    ...validatePoolName(name, poolAt.child('name')),
    ...(count > 0 ? [] : [refuse('resourceSliceCount', count, 'must be greater than zero')]),
    ...(generation >= 0 ? [] : [refuse('generation', generation, 'must be greater than or equal to zero')]),
  ];
}

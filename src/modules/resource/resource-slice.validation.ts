import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { requiredName } from '../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, type Fields } from '../../machinery/fields.js';
import { validateDnsLabel } from '../../machinery/names.js';
import { validateDriverName } from '../storage/parameters.validation.js';
import { validateCounters } from './counters.validation.js';
import { validateDevice } from './device.validation.js';
import { validateKeyedList } from './lists.validation.js';
import { validatePoolName } from './names.validation.js';
import { validateNodeChoice } from './node-choice.validation.js';

const at = path('spec');
const devicesMax = 128;
/** Devices that share, or keep off, cost the scheduler more. */
const advancedDevicesMax = 64;
const counterSetsMax = 8;

export function validateSliceSpec(spec: Fields): FieldError[] {
  const devices = asItems(spec['devices']);
  const isAdvanced = devices.some((device) =>
    ['taints', 'consumesCounters'].some((field) => asItems(device[field]).length > 0),
  );
  const choosesPerDevice = spec['perDeviceNodeSelection'] === true;
  const errors = [
    ...validateDriverName(asText(spec['driver']), at.child('driver')),
    ...validatePool(asFields(spec['pool']), at.child('pool')),
    ...validateNodeChoice(spec, at, ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection']),
  ];
  if (devices.length > 0 && asItems(spec['sharedCounters']).length > 0) {
    const message = 'only one of `sharedCounters` or `devices` is allowed';
    errors.push(fieldError.invalid(String(at), '{`sharedCounters`, `devices`}', message));
  }
  const devicesRule = { max: isAdvanced ? advancedDevicesMax : devicesMax, key: 'name', at: at.child('devices') };
  const counterSetsRule = { max: counterSetsMax, key: 'name', at: at.child('sharedCounters') };
  return [
    ...errors,
    ...validateKeyedList(devices, devicesRule, (device, deviceAt) =>
      validateDevice(device, deviceAt, choosesPerDevice),
    ),
    ...validateKeyedList(spec['sharedCounters'], counterSetsRule, (set, setAt) => [
      ...requiredName(asText(set['name']), setAt.child('name'), validateDnsLabel),
      ...validateCounters(set['counters'], setAt.child('counters')),
    ]),
  ];
}

function validatePool(pool: Fields, poolAt: FieldPath): FieldError[] {
  const count = asNumber(pool['resourceSliceCount']);
  const generation = asNumber(pool['generation']);
  const refuse = (field: string, value: number, message: string) =>
    fieldError.invalid(String(poolAt.child(field)), value, message);
  return [
    ...validatePoolName(asText(pool['name']), poolAt.child('name')),
    ...(count > 0 ? [] : [refuse('resourceSliceCount', count, 'must be greater than zero')]),
    ...(generation >= 0 ? [] : [refuse('generation', generation, 'must be greater than or equal to zero')]),
  ];
}

import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
} from '../../catalog/types/resource.v1.js';
import { validateConditions } from '../../machinery/condition-validation.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, oneOf, required } from '../../machinery/field-rules.js';
import { isSet } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import { validateDnsLabel, validateQualifiedName } from '../../machinery/names.js';
import { validateNodeSelector } from '../core/pod/scheduling.validation.js';
import { validateCanonicalInterface } from '../networking/canonical.validation.js';
import { validateDriverName } from '../storage/parameters.validation.js';
import { configurationsMax, requestNames, validateRequestRef, validateRequestRefs } from './claim-spec.validation.js';
import { validateConfiguration, validateDeviceTolerations, validateRawObject } from './device-rules.validation.js';
import { validateKeyedList, validateList, validateTexts } from './lists.validation.js';
import { validatePoolName } from './names.validation.js';

const at = path('status');
const resultsMax = 32;
const reservationsMax = 256;
const bindingConditionsMax = 4;

export function validateClaimStatus(claim: ResourceClaim, old: ResourceClaim): FieldError[] {
  const { allocation, reservedFor = [], devices } = claim.status ?? {};
  const before = old.status ?? {};
  const allocationAt = at.child('allocation');
  const reservedAt = at.child('reservedFor');
  const names = requestNames(claim.spec ?? {});
  const errors = validateKeyedList(reservedFor, { max: reservationsMax, key: 'uid', at: reservedAt }, validateConsumer);
  if (reservedFor.length > 0 && !allocation) {
    errors.push(fieldError.forbidden(reservedAt, 'may not be specified when `allocated` is not set'));
  }
  if (isSet(claim.metadata.deletionTimestamp) && hasNewConsumer(reservedFor, before.reservedFor ?? [])) {
    const message = 'new entries may not be added while `deletionTimestamp` is set';
    errors.push(fieldError.forbidden(reservedAt, message));
  }
  if (allocation) {
    errors.push(
      ...(before.allocation
        ? immutable(allocation, before.allocation, allocationAt)
        : validateAllocation(allocation, allocationAt, names)),
    );
  }
  return [...errors, ...validateDeviceStatuses(devices, allocation)];
}

const consumerFields = ['resource', 'name', 'uid'] as const;
type Consumer = ResourceClaimConsumerReference;

function validateConsumer(consumer: Consumer, consumerAt: FieldPath): FieldError[] {
  return consumerFields.flatMap((field) => required(consumer[field], consumerAt.child(field)));
}

function hasNewConsumer(now: readonly Consumer[], before: readonly Consumer[]): boolean {
  const known = new Set(before.map(({ uid }) => uid));
  return now.some(({ uid }) => !known.has(uid));
}

function validateAllocation(
  { devices = {}, nodeSelector }: AllocationResult,
  allocationAt: FieldPath,
  names: ReadonlySet<string>,
): FieldError[] {
  const devicesAt = allocationAt.child('devices');
  return [
    ...validateList(devices.results, resultsMax, devicesAt.child('results'), (result, resultAt) =>
      validateResult(result, resultAt, names),
    ),
    ...validateList(
      devices.config,
      2 * configurationsMax,
      devicesAt.child('config'),
      (configuration, configurationAt) => {
        const { source, requests } = configuration;
        const sourceAt = configurationAt.child('source');
        return [
          ...(source ? oneOf(source, sourceAt, ['FromClaim', 'FromClass']) : required('', sourceAt)),
          ...validateRequestRefs(requests, configurationAt.child('requests'), names),
          ...validateConfiguration(configuration, configurationAt),
        ];
      },
    ),
    ...(nodeSelector ? validateNodeSelector(nodeSelector, allocationAt.child('nodeSelector')) : []),
  ];
}

const conditionFields = ['bindingConditions', 'bindingFailureConditions'] as const;

function validateResult(
  result: DeviceRequestAllocationResult,
  resultAt: FieldPath,
  names: ReadonlySet<string>,
): FieldError[] {
  return [
    ...validateRequestRef(result.request ?? '', resultAt.child('request'), names),
    ...validateDeviceId(result, resultAt),
    ...validateDeviceTolerations(result.tolerations, resultAt.child('tolerations')),
    ...conditionFields.flatMap((field) =>
      validateTexts(result[field], bindingConditionsMax, resultAt.child(field), (type, typeAt) =>
        checked(type, typeAt, validateQualifiedName),
      ),
    ),
  ];
}

type DeviceId = Pick<AllocatedDeviceStatus, 'driver' | 'pool' | 'device' | 'shareID'>;

function validateDeviceId({ driver = '', pool = '', device = '' }: DeviceId, deviceAt: FieldPath): FieldError[] {
  return [
    ...validateDriverName(driver, deviceAt.child('driver')),
    ...validatePoolName(pool, deviceAt.child('pool')),
    ...checked(device, deviceAt.child('device'), validateDnsLabel),
  ];
}

const conditionsMax = 8;
const idOf = ({ driver = '', pool = '', device = '', shareID = '' }: DeviceId): string =>
  [driver, pool, device, shareID].join('/');

/** Accepts statuses of allocated devices only. */
function validateDeviceStatuses(
  devices: readonly AllocatedDeviceStatus[] = [],
  allocation: AllocationResult | undefined,
): FieldError[] {
  const devicesAt = at.child('devices');
  const allocated = new Set((allocation?.devices?.results ?? []).map(idOf));
  const seen = new Set<string>();
  return devices.flatMap((device, index) => {
    const deviceAt = devicesAt.index(index);
    const id = idOf(device);
    const shown = { Driver: device.driver, Pool: device.pool, Device: device.device };
    const errors = validateDeviceId(device, deviceAt);
    if (seen.has(id)) errors.push(fieldError.duplicate(deviceAt, shown));
    seen.add(id);
    if (!allocated.has(id)) {
      errors.push(fieldError.invalid(deviceAt, shown, 'must be an allocated device in the claim'));
    }
    const conditionsAt = deviceAt.child('conditions');
    const count = (device.conditions ?? []).length;
    if (count > conditionsMax) errors.push(fieldError.tooMany(conditionsAt, count, conditionsMax));
    errors.push(...validateConditions(device.conditions, conditionsAt));
    if (isSet(device.data)) errors.push(...validateRawObject(device.data, deviceAt.child('data')));
    return [...errors, ...validateNetwork(device.networkData ?? {}, deviceAt.child('networkData'))];
  });
}

const interfaceNameBytesMax = 256;
const hardwareAddressBytesMax = 128;
const ipsMax = 16;

function validateNetwork(network: NetworkDeviceData, networkAt: FieldPath): FieldError[] {
  const bounds = [
    ['interfaceName', interfaceNameBytesMax],
    ['hardwareAddress', hardwareAddressBytesMax],
  ] as const;
  return [
    ...bounds.flatMap(([field, max]) =>
      Buffer.byteLength(network[field] ?? '') > max ? [fieldError.tooLong(networkAt.child(field), max)] : [],
    ),
    ...validateTexts(network.ips, ipsMax, networkAt.child('ips'), (text, textAt) =>
      checked(text, textAt, validateCanonicalInterface),
    ),
  ];
}

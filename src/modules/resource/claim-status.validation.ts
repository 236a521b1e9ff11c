import { isIP } from 'node:net';
import { validateConditions } from '../../machinery/condition-validation.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, oneOf, required } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, isSet, type Fields } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { validateDnsLabel, validateQualifiedName } from '../../machinery/names.js';
import { validateNodeSelector } from '../core/pod/scheduling.validation.js';
import { validateDriverName } from '../storage/parameters.validation.js';
import { configurationsMax, requestNames, validateRequestRef, validateRequestRefs } from './claim-spec.validation.js';
import { validateConfiguration, validateDeviceTolerations, validateRawObject } from './device-rules.validation.js';
import { validateKeyedList, validateList, validateTexts } from './lists.validation.js';
import { validatePoolName } from './names.validation.js';

const at = path('status');
const resultsMax = 32;
const reservationsMax = 256;
const bindingConditionsMax = 4;

export function validateClaimStatus(claim: KubeObject, old: KubeObject): FieldError[] {
  const { allocation, reservedFor, devices } = asFields(claim['status']);
  const before = asFields(old['status']);
  const allocationAt = at.child('allocation');
  const reservedAt = at.child('reservedFor');
  const names = requestNames(asFields(claim['spec']));
  const errors = validateKeyedList(reservedFor, { max: reservationsMax, key: 'uid', at: reservedAt }, validateConsumer);
  if (asItems(reservedFor).length > 0 && !isSet(allocation)) {
    errors.push(fieldError.forbidden(String(reservedAt), 'may not be specified when `allocated` is not set'));
  }
  if (isSet(claim.metadata.deletionTimestamp) && hasNewConsumer(reservedFor, before['reservedFor'])) {
    const message = 'new entries may not be added while `deletionTimestamp` is set';
    errors.push(fieldError.forbidden(String(reservedAt), message));
  }
  if (isSet(allocation)) {
    errors.push(
      ...(isSet(before['allocation'])
        ? immutable(allocation, before['allocation'], allocationAt)
        : validateAllocation(asFields(allocation), allocationAt, names)),
    );
  }
  return [...errors, ...validateDeviceStatuses(devices, asFields(allocation))];
}

function validateConsumer(consumer: Fields, consumerAt: FieldPath): FieldError[] {
  return ['resource', 'name', 'uid'].flatMap((field) => required(consumer[field], consumerAt.child(field)));
}

function hasNewConsumer(now: unknown, before: unknown): boolean {
  const known = new Set(asItems(before).map(({ uid }) => uid));
  return asItems(now).some(({ uid }) => !known.has(uid));
}

function validateAllocation(allocation: Fields, allocationAt: FieldPath, names: ReadonlySet<string>): FieldError[] {
  const { results, config } = asFields(allocation['devices']);
  const devicesAt = allocationAt.child('devices');
  return [
    ...validateList(results, resultsMax, devicesAt.child('results'), (result, resultAt) =>
      validateResult(result, resultAt, names),
    ),
    ...validateList(config, 2 * configurationsMax, devicesAt.child('config'), (configuration, configurationAt) => {
      const { source, requests } = configuration;
      const sourceAt = configurationAt.child('source');
      return [
        ...(asText(source) === '' ? required('', sourceAt) : oneOf(source, sourceAt, ['FromClaim', 'FromClass'])),
        ...validateRequestRefs(requests, configurationAt.child('requests'), names),
        ...validateConfiguration(configuration, configurationAt),
      ];
    }),
    ...(isSet(allocation['nodeSelector'])
      ? validateNodeSelector(asFields(allocation['nodeSelector']), allocationAt.child('nodeSelector'))
      : []),
  ];
}

function validateResult(result: Fields, resultAt: FieldPath, names: ReadonlySet<string>): FieldError[] {
  return [
    ...validateRequestRef(asText(result['request']), resultAt.child('request'), names),
    ...validateDeviceId(result, resultAt),
    ...validateDeviceTolerations(result['tolerations'], resultAt.child('tolerations')),
    ...['bindingConditions', 'bindingFailureConditions'].flatMap((field) =>
      validateTexts(result[field], bindingConditionsMax, resultAt.child(field), (type, typeAt) =>
        checked(type, typeAt, validateQualifiedName),
      ),
    ),
  ];
}

function validateDeviceId(device: Fields, deviceAt: FieldPath): FieldError[] {
  return [
    ...validateDriverName(asText(device['driver']), deviceAt.child('driver')),
    ...validatePoolName(asText(device['pool']), deviceAt.child('pool')),
    ...checked(asText(device['device']), deviceAt.child('device'), validateDnsLabel),
  ];
}

const conditionsMax = 8;
const idFields = ['driver', 'pool', 'device', 'shareID'];
const idOf = (device: Fields): string => idFields.map((field) => asText(device[field])).join('/');

/** Only of devices that the claim has. */
function validateDeviceStatuses(devices: unknown, allocation: Fields): FieldError[] {
  const devicesAt = at.child('devices');
  const allocated = new Set(asItems(asFields(allocation['devices'])['results']).map(idOf));
  const seen = new Set<string>();
  return asItems(devices).flatMap((device, index) => {
    const deviceAt = devicesAt.index(index);
    const id = idOf(device);
    const shown = { Driver: device['driver'], Pool: device['pool'], Device: device['device'] };
    const errors = validateDeviceId(device, deviceAt);
    if (seen.has(id)) errors.push(fieldError.duplicate(String(deviceAt), shown));
    seen.add(id);
    if (!allocated.has(id)) {
      errors.push(fieldError.invalid(String(deviceAt), shown, 'must be an allocated device in the claim'));
    }
    const conditionsAt = deviceAt.child('conditions');
    const count = asItems(device['conditions']).length;
    if (count > conditionsMax) errors.push(fieldError.tooMany(String(conditionsAt), count, conditionsMax));
    errors.push(...validateConditions(device['conditions'], conditionsAt));
    if (isSet(device['data'])) errors.push(...validateRawObject(device['data'], deviceAt.child('data')));
    return [...errors, ...validateNetwork(asFields(device['networkData']), deviceAt.child('networkData'))];
  });
}

const interfaceNameBytesMax = 256;
const hardwareAddressBytesMax = 128;
const ipsMax = 16;

function validateNetwork(network: Fields, networkAt: FieldPath): FieldError[] {
  const bounds = { interfaceName: interfaceNameBytesMax, hardwareAddress: hardwareAddressBytesMax };
  return [
    ...Object.entries(bounds).flatMap(([field, max]) =>
      Buffer.byteLength(asText(network[field])) > max ? [fieldError.tooLong(String(networkAt.child(field)), max)] : [],
    ),
    ...validateTexts(network['ips'], ipsMax, networkAt.child('ips'), (text, textAt) =>
      checked(text, textAt, validateInterfaceAddress),
    ),
  ];
}

/** An address with the length of its network. */
function validateInterfaceAddress(text: string): string[] {
  const [address = '', bits = '', ...rest] = text.split('/');
  const family = isIP(address);
  const isGood =
    rest.length === 0 && family !== 0 && /^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
  return isGood ? [] : ['must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'];
}

import type {
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
  ResourceClaimSpec,
} from '../../catalog/types/resource.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, requiredName } from '../../machinery/field-rules.js';
import { nameIsDnsSubdomain, validateDnsLabel } from '../../machinery/names.js';
import type { Steps } from '../../std/steps.js';
import { isNegative } from '../core/pod/pod-resources.js';
import { validateConfiguration, validateDeviceTolerations, validateSelectors } from './device-rules.validation.js';
import { validateKeyedListInSteps, validateList, validateTexts } from './lists.validation.js';
import { validateAttributeName, validateFullAttributeName } from './names.validation.js';

const requestsMax = 32;
const alternativesMax = 8;
const constraintsMax = 32;
export const configurationsMax = 32;

/** Validates the spec of a new ResourceClaim or claim template, in steps, since its selectors are compiled. */
export function* validateClaimSpec(spec: ResourceClaimSpec, at: FieldPath): Steps<FieldError[]> {
  const { devices = {} } = spec;
  const devicesAt = at.child('devices');
  const names = requestNames(spec);
  return [
    ...(yield* validateKeyedListInSteps(
      devices.requests,
      { max: requestsMax, key: 'name', at: devicesAt.child('requests') },
      validateRequest,
    )),
    ...validateList(devices.constraints, constraintsMax, devicesAt.child('constraints'), (constraint, constraintAt) =>
      validateConstraint(constraint, constraintAt, names),
    ),
    ...validateList(devices.config, configurationsMax, devicesAt.child('config'), (configuration, configurationAt) => [
      ...validateRequestRefs(configuration.requests, configurationAt.child('requests'), names),
      ...validateConfiguration(configuration, configurationAt),
    ]),
  ];
}

/** Returns the names of the requests, and `request/alternative` for their alternatives. */
export function requestNames({ devices }: ResourceClaimSpec): ReadonlySet<string> {
  return new Set(
    (devices?.requests ?? []).flatMap(({ name = '', firstAvailable = [] }) => [
      name,
      ...firstAvailable.map((alternative) => `${name}/${alternative.name ?? ''}`),
    ]),
  );
}

export function validateRequestRef(name: string, at: FieldPath, names: ReadonlySet<string>): FieldError[] {
  const segments = name.split('/');
  const message =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  if (segments.length > 2) return [fieldError.invalid(at, name, message)];
  return [
    ...segments.flatMap((segment) => checked(segment, at, validateDnsLabel)),
    ...(names.has(name) ? [] : [fieldError.invalid(at, name, message)]),
  ];
}

export function validateRequestRefs(
  refs: readonly string[] | undefined,
  at: FieldPath,
  names: ReadonlySet<string>,
): FieldError[] {
  return validateTexts(refs, requestsMax, at, (name, nameAt) => validateRequestRef(name, nameAt, names));
}

function* validateRequest(
  { name = '', exactly, firstAvailable = [] }: DeviceRequest,
  at: FieldPath,
): Steps<FieldError[]> {
  const hasAlternatives = firstAvailable.length > 0;
  const errors = checked(name, at.child('name'), validateDnsLabel);
  const message = 'exactly one of `exactly` or `firstAvailable` is required';
  if (exactly && hasAlternatives) {
    return [...errors, fieldError.invalid(at, null, `${message}, but multiple fields are set`)];
  }
  if (exactly) return [...errors, ...(yield* validateExactRequest(exactly, at.child('exactly')))];
  if (!hasAlternatives) return [...errors, fieldError.required(at, message)];
  return [
    ...errors,
    ...(yield* validateKeyedListInSteps(
      firstAvailable,
      { max: alternativesMax, key: 'name', at: at.child('firstAvailable') },
      validateAlternative,
    )),
  ];
}

function* validateAlternative(alternative: DeviceSubRequest, at: FieldPath): Steps<FieldError[]> {
  return [
    ...checked(alternative.name ?? '', at.child('name'), validateDnsLabel),
    ...(yield* validateExactRequest(alternative, at)),
  ];
}

function* validateExactRequest(request: ExactDeviceRequest | DeviceSubRequest, at: FieldPath): Steps<FieldError[]> {
  return [
    ...requiredName(request.deviceClassName ?? '', at.child('deviceClassName'), nameIsDnsSubdomain),
    ...(yield* validateSelectors(request.selectors, at.child('selectors'), 'new')),
    ...validateCount(request, at),
    ...validateDeviceTolerations(request.tolerations, at.child('tolerations')),
    ...Object.entries(request.capacity?.requests ?? {}).flatMap(([name, amount]) => {
      const amountAt = at.child('capacity', 'requests').key(name);
      return [
        ...validateAttributeName(name, amountAt),
        ...(isNegative(amount) ? [fieldError.invalid(amountAt, amount, 'must be greater than or equal to 0')] : []),
      ];
    }),
  ];
}

function validateCount(request: ExactDeviceRequest | DeviceSubRequest, at: FieldPath): FieldError[] {
  const { allocationMode: mode = '', count = 0 } = request;
  const refuse = (message: string) => [fieldError.invalid(at.child('count'), count, message)];
  switch (mode) {
    case 'All':
      return count === 0 ? [] : refuse("must not be specified when allocationMode is 'All'");
    case 'ExactCount':
      return count > 0 ? [] : refuse('must be greater than zero');
    default:
      return [fieldError.notSupported(at.child('allocationMode'), mode, ['All', 'ExactCount'])];
  }
}

function validateConstraint(constraint: DeviceConstraint, at: FieldPath, names: ReadonlySet<string>): FieldError[] {
  const { matchAttribute, distinctAttribute } = constraint;
  const errors = validateRequestRefs(constraint.requests, at.child('requests'), names);
  if (matchAttribute !== undefined && distinctAttribute !== undefined) {
    const message = 'exactly one of `matchAttribute` or `distinctAttribute` is required, but multiple fields are set';
    return [...errors, fieldError.invalid(at, null, message)];
  }
  const field = distinctAttribute === undefined ? 'matchAttribute' : 'distinctAttribute';
  const attribute = constraint[field];
  if (attribute === undefined) return [...errors, fieldError.required(at.child(field))];
  return [...errors, ...validateFullAttributeName(attribute, at.child(field))];
}

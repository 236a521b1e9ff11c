import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, requiredName } from '../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, isSet, type Fields } from '../../machinery/fields.js';
import { nameIsDnsSubdomain, validateDnsLabel } from '../../machinery/names.js';
import { isNegative } from '../core/pod/pod-resources.js';
import { validateConfiguration, validateDeviceTolerations, validateSelectors } from './device-rules.validation.js';
import { validateKeyedList, validateList, validateTexts } from './lists.validation.js';
import { validateAttributeName, validateFullAttributeName } from './names.validation.js';

const requestsMax = 32;
const alternativesMax = 8;
const constraintsMax = 32;
export const configurationsMax = 32;

/** What a claim asks for; a template has the same inside. */
export function validateClaimSpec(spec: Fields, at: FieldPath): FieldError[] {
  const devices = asFields(spec['devices']);
  const devicesAt = at.child('devices');
  const names = requestNames(spec);
  return [
    ...validateKeyedList(
      devices['requests'],
      { max: requestsMax, key: 'name', at: devicesAt.child('requests') },
      validateRequest,
    ),
    ...validateList(
      devices['constraints'],
      constraintsMax,
      devicesAt.child('constraints'),
      (constraint, constraintAt) => validateConstraint(constraint, constraintAt, names),
    ),
    ...validateList(
      devices['config'],
      configurationsMax,
      devicesAt.child('config'),
      (configuration, configurationAt) => [
        ...validateRequestRefs(configuration['requests'], configurationAt.child('requests'), names),
        ...validateConfiguration(configuration, configurationAt),
      ],
    ),
  ];
}

/** A request by its name; an alternative of it as `request/alternative`. */
export function requestNames(spec: Fields): ReadonlySet<string> {
  return new Set(
    asItems(asFields(spec['devices'])['requests']).flatMap((request) => {
      const name = asText(request['name']);
      return [name, ...asItems(request['firstAvailable']).map((other) => `${name}/${asText(other['name'])}`)];
    }),
  );
}

export function validateRequestRef(name: string, at: FieldPath, names: ReadonlySet<string>): FieldError[] {
  const parts = name.split('/');
  const message =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  if (parts.length > 2) return [fieldError.invalid(String(at), name, message)];
  return [
    ...parts.flatMap((part) => checked(part, at, validateDnsLabel)),
    ...(names.has(name) ? [] : [fieldError.invalid(String(at), name, message)]),
  ];
}

export function validateRequestRefs(refs: unknown, at: FieldPath, names: ReadonlySet<string>): FieldError[] {
  return validateTexts(refs, requestsMax, at, (name, nameAt) => validateRequestRef(name, nameAt, names));
}

function validateRequest(request: Fields, at: FieldPath): FieldError[] {
  const { exactly, firstAvailable } = request;
  const hasAlternatives = asItems(firstAvailable).length > 0;
  const errors = checked(asText(request['name']), at.child('name'), validateDnsLabel);
  const message = 'exactly one of `exactly` or `firstAvailable` is required';
  if (isSet(exactly) && hasAlternatives) {
    return [...errors, fieldError.invalid(String(at), null, `${message}, but multiple fields are set`)];
  }
  if (isSet(exactly)) return [...errors, ...validateExactRequest(asFields(exactly), at.child('exactly'))];
  if (!hasAlternatives) return [...errors, fieldError.required(String(at), message)];
  const alternatives = { max: alternativesMax, key: 'name', at: at.child('firstAvailable') };
  return [
    ...errors,
    ...validateKeyedList(firstAvailable, alternatives, (alternative, alternativeAt) => [
      ...checked(asText(alternative['name']), alternativeAt.child('name'), validateDnsLabel),
      ...validateExactRequest(alternative, alternativeAt),
    ]),
  ];
}

function validateExactRequest(request: Fields, at: FieldPath): FieldError[] {
  return [
    ...requiredName(asText(request['deviceClassName']), at.child('deviceClassName'), nameIsDnsSubdomain),
    ...validateSelectors(request['selectors'], at.child('selectors')),
    ...validateCount(request, at),
    ...validateDeviceTolerations(request['tolerations'], at.child('tolerations')),
    ...Object.entries(asFields(asFields(request['capacity'])['requests'])).flatMap(([name, amount]) => {
      const amountAt = at.child('capacity', 'requests').key(name);
      return [
        ...validateAttributeName(name, amountAt),
        ...(isNegative(amount)
          ? [fieldError.invalid(String(amountAt), amount, 'must be greater than or equal to 0')]
          : []),
      ];
    }),
  ];
}

function validateCount(request: Fields, at: FieldPath): FieldError[] {
  const mode = asText(request['allocationMode']);
  const count = asNumber(request['count']);
  const refuse = (message: string) => [fieldError.invalid(String(at.child('count')), count, message)];
  switch (mode) {
    case 'All':
      return count === 0 ? [] : refuse("must not be specified when allocationMode is 'All'");
    case 'ExactCount':
      return count > 0 ? [] : refuse('must be greater than zero');
    default:
      return [fieldError.notSupported(String(at.child('allocationMode')), mode, ['All', 'ExactCount'])];
  }
}

function validateConstraint(constraint: Fields, at: FieldPath, names: ReadonlySet<string>): FieldError[] {
  const { matchAttribute, distinctAttribute } = constraint;
  const errors = validateRequestRefs(constraint['requests'], at.child('requests'), names);
  if (isSet(matchAttribute) && isSet(distinctAttribute)) {
    const message = 'exactly one of `matchAttribute` or `distinctAttribute` is required, but multiple fields are set';
    return [...errors, fieldError.invalid(String(at), null, message)];
  }
  const field = isSet(distinctAttribute) ? 'distinctAttribute' : 'matchAttribute';
  if (!isSet(constraint[field])) return [...errors, fieldError.required(String(at.child(field)))];
  return [...errors, ...validateFullAttributeName(asText(constraint[field]), at.child(field))];
}

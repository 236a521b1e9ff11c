import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, requiredName } from '../../machinery/field-rules.js';
import { asFields, asText, isSet, type Fields } from '../../machinery/fields.js';
import { validateDnsLabel, validateQualifiedName } from '../../machinery/names.js';
import { parseSemver } from '../../machinery/semver.js';
import { validateRequestPolicy } from './capacity.validation.js';
import { validateCounters } from './counters.validation.js';
import { validateDeviceTaint } from './device-rules.validation.js';
import { validateKeyedList, validateList, validateTexts } from './lists.validation.js';
import { validateAttributeName } from './names.validation.js';
import { validateNodeChoice } from './node-choice.validation.js';

const factsMax = 32;
const taintsMax = 16;
const consumptionsMax = 2;
const bindingConditionsMax = 4;
const ways = ['nodeName', 'nodeSelector', 'allNodes'];

export function validateDevice(device: Fields, at: FieldPath, choosesNodes: boolean): FieldError[] {
  const attributes = Object.entries(asFields(device['attributes']));
  const capacity = Object.entries(asFields(device['capacity']));
  const count = attributes.length + capacity.length;
  const isShared = device['allowMultipleAllocations'] === true;
  const errors = checked(asText(device['name']), at.child('name'), validateDnsLabel);
  if (count > factsMax) {
    const message = `the total number of attributes and capacities must not exceed ${factsMax}`;
    errors.push(fieldError.invalid(String(at), count, message));
  }
  for (const [name, attribute] of attributes) {
    const attributeAt = at.child('attributes').key(name);
    errors.push(...validateAttributeName(name, attributeAt), ...validateAttribute(asFields(attribute), attributeAt));
  }
  for (const [name, amount] of capacity) {
    const amountAt = at.child('capacity').key(name);
    errors.push(
      ...validateAttributeName(name, amountAt),
      ...validateRequestPolicy(asFields(amount), amountAt, isShared),
    );
  }
  const consumptions = { max: consumptionsMax, key: 'counterSet', at: at.child('consumesCounters') };
  return [
    ...errors,
    ...validateList(device['taints'], taintsMax, at.child('taints'), validateDeviceTaint),
    ...validateKeyedList(device['consumesCounters'], consumptions, (consumption, consumptionAt) => [
      ...requiredName(asText(consumption['counterSet']), consumptionAt.child('counterSet'), validateDnsLabel),
      ...validateCounters(consumption['counters'], consumptionAt.child('counters')),
    ]),
    ...validateNodes(device, at, choosesNodes),
    ...['bindingConditions', 'bindingFailureConditions'].flatMap((field) =>
      validateTexts(device[field], bindingConditionsMax, at.child(field), (type, typeAt) =>
        checked(type, typeAt, validateQualifiedName),
      ),
    ),
  ];
}

function validateNodes(device: Fields, at: FieldPath, choosesNodes: boolean): FieldError[] {
  if (choosesNodes) return validateNodeChoice(device, at, ways);
  return ways
    .filter((way) => isSet(device[way]))
    .map((way) =>
      fieldError.invalid(
        String(at.child(way)),
        device[way],
        'can only be set if `spec.perDeviceNodeSelection` is true',
      ),
    );
}

const textLengthMax = 64;
const noVersion = 'must be a string compatible with semver.org spec 2.0.0';

/** In the order in which messages show them. */
const kinds = ['int', 'bool', 'string', 'version', 'ints', 'bools', 'strings', 'versions'];

function validateAttribute(attribute: Fields, at: FieldPath): FieldError[] {
  const { string, version, strings, versions } = attribute;
  const errors = [
    ...validateText(string, at.child('string')),
    ...validateVersion(version, at.child('version')),
    ...asList(strings).flatMap((text, index) => validateText(text, at.child('strings').index(index))),
    ...asList(versions).flatMap((text, index) => validateVersion(text, at.child('versions').index(index))),
  ];
  const set = kinds.filter((kind) => isSet(attribute[kind]));
  if (set.length === 1) return errors;
  const shown =
    set.length === 0 ? '' : Object.fromEntries(kinds.map((kind) => [goName(kind), attribute[kind] ?? null]));
  return [...errors, fieldError.invalid(String(at), shown, 'exactly one value must be specified')];
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** `int` → `IntValue`, `ints` → `IntValues` */
function goName(kind: string): string {
  const name = kind.slice(0, 1).toUpperCase() + kind.slice(1);
  return name.endsWith('s') ? `${name.slice(0, -1)}Values` : `${name}Value`;
}

function validateText(text: unknown, at: FieldPath): FieldError[] {
  return asText(text).length > textLengthMax ? [fieldError.tooLong(String(at), textLengthMax)] : [];
}

function validateVersion(version: unknown, at: FieldPath): FieldError[] {
  if (!isSet(version)) return [];
  const isVersion = parseSemver(asText(version)) !== undefined;
  return [...(isVersion ? [] : [fieldError.invalid(String(at), version, noVersion)]), ...validateText(version, at)];
}

import type { Device, DeviceAttribute } from '../../catalog/types/resource.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, requiredName } from '../../machinery/field-rules.js';
import { isSet } from '../../machinery/fields.js';
import { validateDnsLabel, validateQualifiedName } from '../../machinery/names.js';
import { parseSemver } from '../../machinery/semver.js';
import { validateRequestPolicy } from './capacity.validation.js';
import { validateCounters } from './counters.validation.js';
import { validateDeviceTaint } from './device-rules.validation.js';
import { validateKeyedList, validateList, validateTexts } from './lists.validation.js';
import { validateAttributeName } from './names.validation.js';
import { validateNodeChoice, type NodeChoiceField } from './node-choice.validation.js';

const propertiesMax = 32;
const taintsMax = 16;
const consumptionsMax = 2;
const bindingConditionsMax = 4;
const nodeFields = ['nodeName', 'nodeSelector', 'allNodes'] as const satisfies readonly NodeChoiceField[];
const conditionFields = ['bindingConditions', 'bindingFailureConditions'] as const;

/** Validates a device of a ResourceSlice; `selectsNodes` if the slice has spec.perDeviceNodeSelection. */
export function validateDevice(device: Device, at: FieldPath, selectsNodes: boolean): FieldError[] {
  const attributes = Object.entries(device.attributes ?? {});
  const capacity = Object.entries(device.capacity ?? {});
  const count = attributes.length + capacity.length;
  const isShared = device.allowMultipleAllocations === true;
  const errors = checked(device.name ?? '', at.child('name'), validateDnsLabel);
  if (count > propertiesMax) {
    const message = `the total number of attributes and capacities must not exceed ${propertiesMax}`;
    errors.push(fieldError.invalid(at, count, message));
  }
  for (const [name, attribute] of attributes) {
    const attributeAt = at.child('attributes').key(name);
    errors.push(...validateAttributeName(name, attributeAt), ...validateAttribute(attribute, attributeAt));
  }
  for (const [name, amount] of capacity) {
    const amountAt = at.child('capacity').key(name);
    errors.push(...validateAttributeName(name, amountAt), ...validateRequestPolicy(amount, amountAt, isShared));
  }
  return [
    ...errors,
    ...validateList(device.taints, taintsMax, at.child('taints'), validateDeviceTaint),
    ...validateKeyedList(
      device.consumesCounters,
      { max: consumptionsMax, key: 'counterSet', at: at.child('consumesCounters') },
      ({ counterSet = '', counters }, consumptionAt) => [
        ...requiredName(counterSet, consumptionAt.child('counterSet'), validateDnsLabel),
        ...validateCounters(counters, consumptionAt.child('counters')),
      ],
    ),
    ...validateNodes(device, at, selectsNodes),
    ...conditionFields.flatMap((field) =>
      validateTexts(device[field], bindingConditionsMax, at.child(field), (type, typeAt) =>
        checked(type, typeAt, validateQualifiedName),
      ),
    ),
  ];
}

function validateNodes(device: Device, at: FieldPath, selectsNodes: boolean): FieldError[] {
  if (selectsNodes) return validateNodeChoice(device, at, nodeFields);
  return nodeFields
    .filter((field) => isSet(device[field]))
    .map((field) =>
      fieldError.invalid(at.child(field), device[field], 'can only be set if `spec.perDeviceNodeSelection` is true'),
    );
}

const textLengthMax = 64;
const noVersion = 'must be a string compatible with semver.org spec 2.0.0';

/** The fields of an attribute, in the order of error messages. */
const valueFields = ['int', 'bool', 'string', 'version', 'ints', 'bools', 'strings', 'versions'] as const;

function validateAttribute(attribute: DeviceAttribute, at: FieldPath): FieldError[] {
  const { string = '', version, strings = [], versions = [] } = attribute;
  const errors = [
    ...validateText(string, at.child('string')),
    ...validateVersion(version, at.child('version')),
    ...strings.flatMap((text, index) => validateText(text, at.child('strings').index(index))),
    ...versions.flatMap((text, index) => validateVersion(text, at.child('versions').index(index))),
  ];
  const set = valueFields.filter((field) => isSet(attribute[field]));
  if (set.length === 1) return errors;
  const shown =
    set.length === 0 ? '' : Object.fromEntries(valueFields.map((field) => [goName(field), attribute[field] ?? null]));
  return [...errors, fieldError.invalid(at, shown, 'exactly one value must be specified')];
}

/** Returns the name of the Go field: `int` → `IntValue`, `ints` → `IntValues`. */
function goName(field: string): string {
  const name = field.slice(0, 1).toUpperCase() + field.slice(1);
  return name.endsWith('s') ? `${name.slice(0, -1)}Values` : `${name}Value`;
}

function validateText(text: string, at: FieldPath): FieldError[] {
  return text.length > textLengthMax ? [fieldError.tooLong(at, textLengthMax)] : [];
}

function validateVersion(version: string | undefined, at: FieldPath): FieldError[] {
  if (version === undefined) return [];
  const isVersion = parseSemver(version) !== undefined;
  return [...(isVersion ? [] : [fieldError.invalid(at, version, noVersion)]), ...validateText(version, at)];
}

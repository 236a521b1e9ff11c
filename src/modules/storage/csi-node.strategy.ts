import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, duplicates, each, notNegative, required } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, asTexts, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';
import { repeatedValues } from '../../machinery/value-key.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateDriverName } from './parameters.validation.js';

const at = path('spec').child('drivers');

export const csiNodeStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  validateCreate: validateDrivers,
  validateUpdate: (node, old) => [...validateDrivers(node), ...validateKept(node, old)],
};

const driversOf = (node: KubeObject): Fields[] => asItems(asFields(node['spec'])['drivers']);

function validateDrivers(node: KubeObject): FieldError[] {
  const drivers = driversOf(node);
  return [
    ...each(drivers, at, validateDriver),
    ...duplicates(
      drivers,
      (driver) => asText(driver['name']),
      (index) => at.index(index).child('name'),
    ),
  ];
}

const nodeIdLengthMax = 256;

function validateDriver(driver: Fields, driverAt: FieldPath): FieldError[] {
  const id = asText(driver['nodeID']);
  const idAt = driverAt.child('nodeID');
  const keys = asTexts(driver['topologyKeys']);
  const isAgain = repeatedValues(keys);
  const keysAt = driverAt.child('topologyKeys');
  return [
    ...validateDriverName(asText(driver['name']), driverAt.child('name')),
    ...required(id, idAt),
    ...(id.length > nodeIdLengthMax
      ? [fieldError.invalid(idAt, id, `must be ${nodeIdLengthMax} characters or less`)]
      : []),
    ...notNegative(asFields(driver['allocatable'])['count'], driverAt.child('allocatable', 'count')),
    ...keys.flatMap((key, index) => [
      ...(isAgain[index] ? [fieldError.duplicate(keysAt, key)] : []),
      ...checked(key, keysAt, validateQualifiedName),
    ]),
  ];
}

/** A driver that stays is the same as before: only how many volumes it can take may change. */
function validateKept(node: KubeObject, old: KubeObject): FieldError[] {
  const before = new Map(driversOf(old).map((driver) => [driver['name'], driver]));
  return driversOf(node).flatMap((driver) => {
    const kept = before.get(driver['name']);
    const withoutCount = ({ allocatable: _allocatable, ...rest }: Fields) => rest;
    return kept === undefined || deepEqual(withoutCount(kept), withoutCount(driver))
      ? []
      : [fieldError.invalid('CSINodeDriver', driver, 'field is immutable')];
  });
}

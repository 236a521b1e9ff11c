import type { CSINode, CSINodeDriver } from '../../catalog/types/storage.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, duplicates, each, notNegative, required } from '../../machinery/field-rules.js';
import { nameIsDnsSubdomain, validateQualifiedName } from '../../machinery/names.js';
import { repeatedValues } from '../../machinery/value-key.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateDriverName } from './parameters.validation.js';

const at = path('spec').child('drivers');

export const csiNodeStrategy: Strategy<CSINode> = {
  validateName: nameIsDnsSubdomain,
  validateCreate: validateDrivers,
  validateUpdate: (node, old) => [...validateDrivers(node), ...validateExisting(node, old)],
};

const driversOf = ({ spec }: CSINode): readonly CSINodeDriver[] => spec?.drivers ?? [];

function validateDrivers(node: CSINode): FieldError[] {
  const drivers = driversOf(node);
  return [
    ...each(drivers, at, validateDriver),
    ...duplicates(
      drivers,
      ({ name = '' }) => name,
      (index) => at.index(index).child('name'),
    ),
  ];
}

const nodeIdLengthMax = 256;

function validateDriver(driver: CSINodeDriver, driverAt: FieldPath): FieldError[] {
  const { name = '', nodeID: id = '', allocatable = {} } = driver;
  const idAt = driverAt.child('nodeID');
  const keys = driver.topologyKeys ?? [];
  const isRepeated = repeatedValues(keys);
  const keysAt = driverAt.child('topologyKeys');
  return [
    ...validateDriverName(name, driverAt.child('name')),
    ...required(id, idAt),
    ...(id.length > nodeIdLengthMax
      ? [fieldError.invalid(idAt, id, `must be ${nodeIdLengthMax} characters or less`)]
      : []),
    ...notNegative(allocatable.count, driverAt.child('allocatable', 'count')),
    ...keys.flatMap((key, index) => [
      ...(isRepeated[index] ? [fieldError.duplicate(keysAt, key)] : []),
      ...checked(key, keysAt, validateQualifiedName),
    ]),
  ];
}

/** Allows an existing driver to change its allocatable only. */
function validateExisting(node: CSINode, old: CSINode): FieldError[] {
  const before = new Map(driversOf(old).map((driver) => [driver.name, driver]));
  return driversOf(node).flatMap((driver) => {
    const existing = before.get(driver.name);
    const fixedFields = ({ allocatable: _allocatable, ...rest }: CSINodeDriver) => rest;
    return existing === undefined || deepEqual(fixedFields(existing), fixedFields(driver))
      ? []
      : [fieldError.invalid('CSINodeDriver', driver, 'field is immutable')];
  });
}

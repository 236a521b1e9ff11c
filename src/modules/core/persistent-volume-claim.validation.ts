import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimStatus,
  TypedLocalObjectReference,
} from '../../catalog/types/core.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, oneOf, required } from '../../machinery/field-rules.js';
import { goStruct } from '../../machinery/go-value.js';
import { immutable } from '../../machinery/immutable.js';
import { jsonDiff } from '../../machinery/json-diff.js';
import { validateDnsSubdomain } from '../../machinery/names.js';
import { validateAccessModes, volumeModes } from './access-modes.validation.js';
import { validateAmount, validatePositiveAmount } from './amounts.validation.js';
import { claimShape } from './go-shapes.js';
import { compareAmounts } from './pod/pod-resources.js';
import { validateLabelSelectorObject } from './selector.validation.js';

/** Validates the spec of a PersistentVolumeClaim, also of an ephemeral volume and a volumeClaimTemplate. */
export function validateClaimSpec(spec: PersistentVolumeClaimSpec, at: FieldPath): FieldError[] {
  return [
    ...validateAccessModes(spec.accessModes, at.child('accessModes'), 'at least 1 access mode is required'),
    ...validateLabelSelectorObject(spec.selector, at.child('selector')),
    ...validateStorage(spec, at.child('resources').key('storage')),
    ...validateClass(spec.storageClassName, at.child('storageClassName')),
    ...validateClass(spec.volumeAttributesClassName, at.child('volumeAttributesClassName')),
    ...oneOf(spec.volumeMode, at.child('volumeMode'), volumeModes),
    ...validateSources(spec, at),
  ];
}

function requestedStorage({ resources }: PersistentVolumeClaimSpec): string | undefined {
  return resources?.requests?.['storage'];
}

function validateStorage(spec: PersistentVolumeClaimSpec, at: FieldPath): FieldError[] {
  const storage = requestedStorage(spec);
  return storage === undefined ? required(storage, at) : validatePositiveAmount(storage, at);
}

function validateClass(name: string | undefined, at: FieldPath): FieldError[] {
  return name ? checked(name, at, validateDnsSubdomain) : [];
}

function validateSources({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, at: FieldPath): FieldError[] {
  const errors = [
    ...(dataSource ? validateSource(dataSource, at.child('dataSource')) : []),
    ...(dataSourceRef ? validateSource(dataSourceRef, at.child('dataSourceRef')) : []),
  ];
  const identity = ({ apiGroup, kind, name }: TypedLocalObjectReference) => [apiGroup ?? '', kind, name];
  if (dataSource && dataSourceRef && !deepEqual(identity(dataSource), identity(dataSourceRef))) {
    errors.push(fieldError.invalid(at, {}, 'must match dataSourceRef'));
  }
  return errors;
}

function validateSource(
  { apiGroup: group, kind = '', name = '' }: TypedLocalObjectReference,
  at: FieldPath,
): FieldError[] {
  const errors = [...required(name, at.child('name')), ...required(kind, at.child('kind'))];
  if (group) return [...errors, ...checked(group, at.child('apiGroup'), validateDnsSubdomain)];
  if (kind !== 'PersistentVolumeClaim') {
    const message = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    errors.push(fieldError.invalid(at, kind, message));
  }
  return errors;
}

const at = path('spec');

export function validateClaim({ spec = {} }: PersistentVolumeClaim): FieldError[] {
  return validateClaimSpec(spec, at);
}

/**
 * Returns the validation of updates. The spec is immutable, except that volumeName and an absent storageClassName can be
 * set once, and that a bound claim can change its requested storage and its VolumeAttributesClass.
 */
export function claimUpdateRule(classAnnotation: string) {
  return (claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] => {
    const { spec = {} } = claim;
    const { spec: before = {}, status: statusBefore = {} } = old;
    const isBound = claim.status?.phase === 'Bound';
    const expected: PersistentVolumeClaimSpec = {
      ...before,
      ...(!before.volumeName && { volumeName: spec.volumeName }),
      ...(before.storageClassName === undefined &&
        maySetClass(claim, old) && { storageClassName: spec.storageClassName }),
      ...(isBound && { volumeAttributesClassName: spec.volumeAttributesClassName }),
    };
    const compared = isBound ? { ...spec, resources: withStorageOf(spec, before) } : spec;
    const errors = validateClaim(claim);
    const annotation = claim.metadata.annotations?.[classAnnotation] ?? '';
    // ResourceQuotas count the claim by this class, so it can only be replaced by the same class in the spec.
    if (annotation !== (old.metadata.annotations?.[classAnnotation] ?? '') && !replacesAnnotation(claim, old)) {
      errors.push(fieldError.invalid(`metadata.annotations.${classAnnotation}`, annotation, 'field is immutable'));
    }
    if (!deepEqual(compared, expected)) {
      const message =
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
      const changes = jsonDiff(goStruct(expected, claimShape), goStruct(compared, claimShape));
      errors.push(fieldError.forbidden(at, `${message}\n${changes}`));
    }
    return [
      ...errors,
      ...validateShrinking(spec, before, statusBefore),
      ...immutable(spec.volumeMode, before.volumeMode, path('volumeMode')),
      ...validateAttributesClassKept(spec, before, statusBefore),
    ];
  };

  /** True if the update sets storageClassName to the class in the annotation, and keeps or removes the annotation. */
  function replacesAnnotation(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
    const classBefore = old.metadata.annotations?.[classAnnotation];
    const annotation = claim.metadata.annotations?.[classAnnotation] ?? classBefore;
    return (
      classBefore !== undefined &&
      annotation === classBefore &&
      old.spec?.storageClassName === undefined &&
      claim.spec?.storageClassName === classBefore
    );
  }

  /** True if the old object has no class in the annotation, or the update sets the same class. */
  function maySetClass(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
    const classBefore = old.metadata.annotations?.[classAnnotation];
    return classBefore === undefined || classBefore === claim.spec?.storageClassName;
  }
}

/** Returns the new resources with the requested storage of the old spec. */
function withStorageOf({ resources }: PersistentVolumeClaimSpec, before: PersistentVolumeClaimSpec) {
  return { ...resources, requests: { ...resources?.requests, storage: requestedStorage(before) } };
}

/** Allows a VolumeAttributesClass that is in use to be replaced, but not to be removed. */
function validateAttributesClassKept(
  { volumeAttributesClassName: name }: PersistentVolumeClaimSpec,
  before: PersistentVolumeClaimSpec,
  { currentVolumeAttributesClassName: current }: PersistentVolumeClaimStatus,
): FieldError[] {
  if (current === undefined || name || name === before.volumeAttributesClassName) return [];
  const to = name === undefined ? 'nil' : 'empty string';
  const message = `update to ${to} is forbidden when status.currentVolumeAttributesClassName is not nil`;
  return [fieldError.forbidden(at.child('volumeAttributesClassName'), message)];
}

/** Allows a failed expansion to be reverted, but not below the capacity of the volume. */
function validateShrinking(
  spec: PersistentVolumeClaimSpec,
  before: PersistentVolumeClaimSpec,
  { capacity }: PersistentVolumeClaimStatus,
): FieldError[] {
  const current = capacity?.['storage'];
  const storage = requestedStorage(spec);
  const isLess = compareAmounts(storage, requestedStorage(before)) < 0 && compareAmounts(storage, current) <= 0;
  if (!isLess || current === undefined) return [];
  const storageAt = at.child('resources', 'requests', 'storage');
  return [fieldError.forbidden(storageAt, 'field can not be less than status.capacity')];
}

export function validateClaimStatus({ status }: PersistentVolumeClaim): FieldError[] {
  const capacityAt = path('status').child('capacity');
  return Object.entries(status?.capacity ?? {}).flatMap(([name, amount]) =>
    validateAmount(amount, capacityAt.key(name)),
  );
}

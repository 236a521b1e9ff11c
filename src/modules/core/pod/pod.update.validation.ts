import type { Container, Pod, PodCondition, PodSpec, PodStatus, Toleration } from '../../../catalog/types/core.v1.js';
import { deepEqual } from '../../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { checked, each } from '../../../machinery/field-rules.js';
import { asFields } from '../../../machinery/fields.js';
import { validateIp } from '../../../machinery/ip-addresses.js';
import { jsonDiff } from '../../../machinery/json-diff.js';
import { validateDnsSubdomain, validateQualifiedName } from '../../../machinery/names.js';
import { valueKey } from '../../../machinery/value-key.js';
import { goPodSpec } from '../go-shapes.js';
import { validateEphemeralContainers, validateImage } from './container.validation.js';
import {
  validateImmutableAnnotations,
  validateNarrowedPlacement,
  withPlacementOf,
  type ImmutableAnnotations,
} from './pod.mutation.validation.js';
import { referencesOf, validatePodSpec } from './pod.validation.js';
import { validateContainerUsers } from './security.validation.js';

const mutableFields =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

const specAt = path('spec');

/** Validates an update. A few fields of the spec are mutable, each with a rule of its own; the others must be equal. */
export function validatePodUpdate(pod: Pod, old: Pod, annotations: ImmutableAnnotations): FieldError[] {
  const { spec = {} } = pod;
  const { spec: oldSpec = {} } = old;
  const errors = [...validatePodSpec(spec, specAt), ...validateImmutableAnnotations(pod, old, annotations)];
  for (const list of ['containers', 'initContainers'] as const) {
    if ((spec[list] ?? []).length !== (oldSpec[list] ?? []).length) {
      const message = 'pod updates may not add or remove containers';
      return [...errors, fieldError.forbidden(specAt.child(list), message)];
    }
    errors.push(...each(spec[list], specAt.child(list), validateImage));
  }
  errors.push(
    ...validateDeadline(spec, oldSpec),
    ...validateGateRemoval(spec, oldSpec),
    ...validateAddedTolerations(spec, oldSpec),
    ...validateNarrowedPlacement(spec, oldSpec),
  );
  // Most updates change metadata alone.
  if (deepEqual(spec, oldSpec)) return errors;
  const fixed = withPlacementOf(oldSpec, withMutableFieldsOf(oldSpec, spec));
  if (!equalsWithEmptyLists(fixed, oldSpec)) {
    const changes = jsonDiff(goPodSpec(oldSpec), goPodSpec(fixed));
    errors.push(fieldError.forbidden(specAt, `${mutableFields}\n${changes}`));
  }
  return errors;
}

function validateDeadline(
  { activeDeadlineSeconds: seconds }: PodSpec,
  { activeDeadlineSeconds: oldSeconds }: PodSpec,
): FieldError[] {
  if (oldSeconds === undefined) return [];
  const at = specAt.child('activeDeadlineSeconds');
  if (seconds === undefined) {
    return [fieldError.invalid(at, null, 'must not update from a positive integer to nil value')];
  }
  return seconds > oldSeconds ? [fieldError.invalid(at, seconds, 'must be less than or equal to previous value')] : [];
}

function validateGateRemoval(spec: PodSpec, { schedulingGates: oldGates = [] }: PodSpec): FieldError[] {
  const oldNames = new Set(oldGates.map(({ name = '' }) => name));
  return each(spec.schedulingGates, specAt.child('schedulingGates'), ({ name = '' }, at) => {
    if (oldNames.has(name)) return [];
    const message = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return [fieldError.forbidden(at.child('name'), message)];
  });
}

/** Allows new tolerations, and changes of tolerationSeconds. */
function validateAddedTolerations(
  { tolerations = [] }: PodSpec,
  { tolerations: oldTolerations = [] }: PodSpec,
): FieldError[] {
  const keyOf = ({ tolerationSeconds: _seconds, ...rest }: Toleration) => valueKey(rest);
  const keys = new Set(tolerations.map(keyOf));
  if (oldTolerations.every((toleration) => keys.has(keyOf(toleration)))) return [];
  const message = 'existing toleration can not be modified except its tolerationSeconds';
  return [fieldError.forbidden(specAt.child('tolerations'), message)];
}

/** Returns `spec` with the mutable fields of the old spec. */
function withMutableFieldsOf(old: PodSpec, spec: PodSpec): PodSpec {
  const { terminationGracePeriodSeconds: oldGraceSeconds = 0 } = old;
  const replacesNegative = oldGraceSeconds < 0 && spec.terminationGracePeriodSeconds === 1;
  return {
    ...spec,
    ...(spec.containers && { containers: withImagesOf(old.containers ?? [], spec.containers) }),
    ...(spec.initContainers && { initContainers: withImagesOf(old.initContainers ?? [], spec.initContainers) }),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    schedulingGates: old.schedulingGates,
    ...(replacesNegative && { terminationGracePeriodSeconds: oldGraceSeconds }),
  };
}

const withImagesOf = (old: readonly Container[], containers: readonly Container[]): Container[] =>
  containers.map((container, index) => ({ ...container, image: old[index]?.image }));

/** True if two values are deeply equal, where an absent list, but not an absent object, equals an empty one. */
function equalsWithEmptyLists(value: unknown, expected: unknown): boolean {
  const isAbsent = (it: unknown) => it === undefined || it === null || (Array.isArray(it) && it.length === 0);
  if ((isAbsent(value) && isAbsent(expected)) || deepEqual(value, expected)) return true;
  if (Array.isArray(value) && Array.isArray(expected)) {
    return value.length === expected.length && value.every((item, i) => equalsWithEmptyLists(item, expected[i]));
  }
  const isObject = (it: unknown) => typeof it === 'object' && it !== null && !Array.isArray(it);
  if (!isObject(value) || !isObject(expected)) return false;
  const [left, right] = [asFields(value), asFields(expected)];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((field) =>
    equalsWithEmptyLists(left[field], right[field]),
  );
}

const statusAt = path('status');

/** Validates a write through the status subresource. */
export function validatePodStatus(pod: Pod, old: Pod, annotations: ImmutableAnnotations): FieldError[] {
  const { status = {} } = pod;
  const { status: oldStatus = {}, spec: oldSpec = {} } = old;
  const { nominatedNodeName = '', qosClass } = status;
  const errors = [
    ...validateImmutableAnnotations(pod, old, annotations),
    ...(nominatedNodeName === ''
      ? []
      : checked(nominatedNodeName, statusAt.child('nominatedNodeName'), validateDnsSubdomain)),
    ...(['podIPs', 'hostIPs'] as const).flatMap((list) =>
      each(status[list], statusAt.child(list), ({ ip = '' }, at) => checked(ip, at, validateIp)),
    ),
    ...validateObservedGeneration(status, statusAt),
    ...each(status.conditions, statusAt.child('conditions'), validateObservedGeneration, ({ type = '' }, at) =>
      checked(type, at.child('Type'), validateQualifiedName),
    ),
  ];
  if (oldStatus.qosClass !== undefined && qosClass !== oldStatus.qosClass) {
    errors.push(fieldError.invalid(statusAt.child('qosClass'), qosClass, 'field is immutable'));
  }
  const osName = pod.spec?.os?.name ?? 'linux';
  return [
    ...errors,
    ...validateContainerStates(oldSpec, status, oldStatus),
    ...(['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const).flatMap((list) =>
      validateContainerUsers(status[list], statusAt.child(list), osName),
    ),
  ];
}

function validateObservedGeneration({ observedGeneration = 0 }: PodStatus | PodCondition, at: FieldPath): FieldError[] {
  if (observedGeneration >= 0) return [];
  return [fieldError.invalid(at.child('observedGeneration'), observedGeneration, 'must be a non-negative integer')];
}

/** Returns items by name; of several with one name, the first. */
function firstByName<T extends { readonly name?: string | undefined }>(
  items: readonly T[],
): ReadonlyMap<string | undefined, T> {
  return new Map([...items].reverse().map((item) => [item.name, item]));
}

/** Rejects a terminated container that runs again, unless the restartPolicy allows it. */
function validateContainerStates(
  { restartPolicy }: PodSpec,
  { containerStatuses = [] }: PodStatus,
  { containerStatuses: oldStatuses = [] }: PodStatus,
): FieldError[] {
  if (restartPolicy === 'Always') return [];
  const statuses = firstByName(containerStatuses);
  return each(oldStatuses, statusAt.child('containerStatuses'), (old, at) => {
    const terminated = old.state?.terminated;
    if (!terminated || ((terminated.exitCode ?? 0) !== 0 && restartPolicy === 'OnFailure')) return [];
    const status = statuses.get(old.name);
    if (!status || status.state?.terminated) return [];
    return [fieldError.forbidden(at.child('state'), 'may not be transitioned to non-terminated state')];
  });
}

/** Validates a write through the ephemeralcontainers subresource. */
export function validateEphemeralUpdate(pod: Pod, old: Pod, mirrorAnnotation: string): FieldError[] {
  if (old.metadata.annotations?.[mirrorAnnotation] !== undefined) {
    return [fieldError.forbidden('', 'static pods do not support ephemeral containers')];
  }
  const { spec = {} } = pod;
  const containers = firstByName(spec.ephemeralContainers ?? []);
  const at = specAt.child('ephemeralContainers');
  return [
    ...validateEphemeralContainers(spec, specAt, referencesOf(spec)),
    ...(old.spec?.ephemeralContainers ?? []).flatMap((oldContainer) => {
      const container = containers.get(oldContainer.name);
      const existing = `existing ephemeral containers "${oldContainer.name ?? ''}" may not be`;
      if (!container) return [fieldError.forbidden(at, `${existing} removed\n`)];
      return deepEqual(container, oldContainer) ? [] : [fieldError.forbidden(at, `${existing} changed\n`)];
    }),
  ];
}

import { deepEqual } from '../../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../../machinery/field-error.js';
import { checked, each } from '../../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, isSet, type Fields } from '../../../machinery/fields.js';
import { jsonDiff } from '../../../machinery/json-diff.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { validateDnsSubdomain, validateQualifiedName } from '../../../machinery/names.js';
import { valueKey } from '../../../machinery/value-key.js';
import { validateIp } from '../../../machinery/ip-addresses.js';
import { validateImage } from './container.validation.js';
import { goPodSpec } from '../go-shapes.js';
import { podNames, validatePodSpec } from './pod.validation.js';
import { validateEphemeralContainers } from './container.validation.js';
import { takeNarrowedPlacement, validateFixedAnnotations, type FixedAnnotations } from './pod.mutation.validation.js';

const mutableFields =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

const specAt = path('spec');

/** A pod that exists is nearly fixed: what may change is taken out of both, and the rest must be the same. */
export function validatePodUpdate(pod: KubeObject, old: KubeObject, annotations: FixedAnnotations): FieldError[] {
  const spec = asFields(pod['spec']);
  const oldSpec = asFields(old['spec']);
  const errors = [...validatePodSpec(spec, specAt), ...validateFixedAnnotations(pod, old, annotations)];
  for (const list of ['containers', 'initContainers']) {
    if (asItems(spec[list]).length !== asItems(oldSpec[list]).length) {
      const message = 'pod updates may not add or remove containers';
      return [...errors, fieldError.forbidden(String(specAt.child(list)), message)];
    }
    errors.push(...each(spec[list], specAt.child(list), validateImage));
  }
  errors.push(
    ...validateDeadline(spec, oldSpec),
    ...validateGateRemoval(spec, oldSpec),
    ...validateAddedTolerations(spec, oldSpec),
  );
  const fixed = withMutableFieldsOf(oldSpec, spec);
  errors.push(...takeNarrowedPlacement(fixed, oldSpec));
  if (!isAsBefore(fixed, oldSpec)) {
    const changes = jsonDiff(goPodSpec(oldSpec), goPodSpec(fixed));
    errors.push(fieldError.forbidden('spec', `${mutableFields}\n${changes}`));
  }
  return errors;
}

function validateDeadline(spec: Fields, oldSpec: Fields): FieldError[] {
  const { activeDeadlineSeconds: before } = oldSpec;
  const { activeDeadlineSeconds: after } = spec;
  if (!isSet(before)) return [];
  const where = 'spec.activeDeadlineSeconds';
  if (!isSet(after)) return [fieldError.invalid(where, null, 'must not update from a positive integer to nil value')];
  return asNumber(after) > asNumber(before)
    ? [fieldError.invalid(where, after, 'must be less than or equal to previous value')]
    : [];
}

function validateGateRemoval(spec: Fields, oldSpec: Fields): FieldError[] {
  const before = new Set(asItems(oldSpec['schedulingGates']).map((gate) => asText(gate['name'])));
  return each(spec['schedulingGates'], specAt.child('schedulingGates'), (gate, at) => {
    const name = asText(gate['name']);
    if (before.has(name)) return [];
    const message = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return [fieldError.forbidden(String(at.child('name')), message)];
  });
}

/** Tolerations may be added, and of those that are there only how long they hold may change. */
function validateAddedTolerations(spec: Fields, oldSpec: Fields): FieldError[] {
  const timeless = ({ tolerationSeconds: _seconds, ...rest }: Fields): Fields => rest;
  const keyOf = (toleration: Fields) => valueKey(timeless(toleration));
  const tolerations = new Set(asItems(spec['tolerations']).map(keyOf));
  const isKept = asItems(oldSpec['tolerations']).every((toleration) => tolerations.has(keyOf(toleration)));
  if (isKept) return [];
  const message = 'existing toleration can not be modified except its tolerationSeconds';
  return [fieldError.forbidden('spec.tolerations', message)];
}

/** The spec as it would be if nothing had changed of what may change. */
function withMutableFieldsOf(oldSpec: Fields, spec: Fields): Fields {
  const fixed: Fields = { ...spec };
  for (const list of ['containers', 'initContainers']) {
    if (!isSet(spec[list])) continue;
    const before = asItems(oldSpec[list]);
    fixed[list] = asItems(spec[list]).map((container, i) => ({ ...container, image: before[i]?.['image'] }));
  }
  const free = ['activeDeadlineSeconds', 'tolerations', 'schedulingGates'];
  for (const field of free) fixed[field] = oldSpec[field];
  const { terminationGracePeriodSeconds: before } = oldSpec;
  if (asNumber(before) < 0 && spec['terminationGracePeriodSeconds'] === 1) {
    fixed['terminationGracePeriodSeconds'] = before;
  }
  return fixed;
}

/** An empty list and no list are the same. */
function isAsBefore(value: unknown, expected: unknown): boolean {
  const isAbsent = (it: unknown) => it === undefined || it === null || (Array.isArray(it) && it.length === 0);
  if ((isAbsent(value) && isAbsent(expected)) || deepEqual(value, expected)) return true;
  if (Array.isArray(value) && Array.isArray(expected)) {
    return value.length === expected.length && value.every((item, i) => isAsBefore(item, expected[i]));
  }
  const isObject = (it: unknown) => typeof it === 'object' && it !== null && !Array.isArray(it);
  if (!isObject(value) || !isObject(expected)) return false;
  const [left, right] = [asFields(value), asFields(expected)];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((field) =>
    isAsBefore(left[field], right[field]),
  );
}

export function validatePodStatus(pod: KubeObject, old: KubeObject, annotations: FixedAnnotations): FieldError[] {
  const status = asFields(pod['status']);
  const oldStatus = asFields(old['status']);
  const at = path('status');
  const nominated = asText(status['nominatedNodeName']);
  const errors = validateFixedAnnotations(pod, old, annotations);
  errors.push(...(nominated === '' ? [] : checked(nominated, at.child('nominatedNodeName'), validateDnsSubdomain)));
  for (const list of ['podIPs', 'hostIPs']) {
    errors.push(
      ...each(status[list], at.child(list), (item, itemAt) => checked(asText(item['ip']), itemAt, validateIp)),
    );
  }
  errors.push(
    ...each(status['conditions'], at.child('conditions'), (condition, conditionAt) =>
      checked(asText(condition['type']), conditionAt.child('Type'), validateQualifiedName),
    ),
  );
  if (isSet(oldStatus['qosClass']) && status['qosClass'] !== oldStatus['qosClass']) {
    errors.push(fieldError.invalid('status.qosClass', status['qosClass'], 'field is immutable'));
  }
  return [...errors, ...validateContainerStates(asFields(old['spec']), status, oldStatus)];
}

function firstByName(items: unknown): ReadonlyMap<unknown, Fields> {
  return new Map([...asItems(items)].reverse().map((item) => [item['name'], item]));
}

/** What ended for good does not run again. */
function validateContainerStates(spec: Fields, status: Fields, oldStatus: Fields): FieldError[] {
  if (spec['restartPolicy'] === 'Always') return [];
  const statuses = firstByName(status['containerStatuses']);
  return each(oldStatus['containerStatuses'], path('status.containerStatuses'), (before, at) => {
    const ended = asFields(asFields(before['state'])['terminated']);
    const wasEnded = isSet(asFields(before['state'])['terminated']);
    if (!wasEnded || (asNumber(ended['exitCode']) !== 0 && spec['restartPolicy'] === 'OnFailure')) return [];
    const after = statuses.get(before['name']);
    if (!after || isSet(asFields(after['state'])['terminated'])) return [];
    return [fieldError.forbidden(String(at.child('state')), 'may not be transitioned to non-terminated state')];
  });
}

export function validateEphemeralUpdate(pod: KubeObject, old: KubeObject, mirrorAnnotation: string): FieldError[] {
  if (old.metadata.annotations?.[mirrorAnnotation] !== undefined) {
    return [fieldError.forbidden('', 'static pods do not support ephemeral containers')];
  }
  const spec = asFields(pod['spec']);
  const list = firstByName(spec['ephemeralContainers']);
  const at = specAt.child('ephemeralContainers');
  return [
    ...validateEphemeralContainers(spec, specAt, podNames(spec)),
    ...asItems(asFields(old['spec'])['ephemeralContainers']).flatMap((before) => {
      const name = asText(before['name']);
      const after = list.get(before['name']);
      const existing = `existing ephemeral containers "${name}" may not be`;
      if (!after) return [fieldError.forbidden(String(at), `${existing} removed\n`)];
      return deepEqual(after, before) ? [] : [fieldError.forbidden(String(at), `${existing} changed\n`)];
    }),
  ];
}

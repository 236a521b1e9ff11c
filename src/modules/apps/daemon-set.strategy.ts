import type { DaemonSet, DaemonSetSpec, DaemonSetUpdateStrategy } from '../../catalog/types/apps.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, type FieldError } from '../../machinery/field-error.js';
import { notNegative, required } from '../../machinery/field-rules.js';
import { atMostAll, intOrPercent, validateIntOrPercent } from '../../machinery/int-or-percent.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import { fillConditionTimes } from '../core/condition-times.js';
import { defaultPodTemplate } from '../core/pod/pod-template.js';
import { validateCollisions, validateCounters } from '../core/replica-status.validation.js';
import { specAt, validateSelectedTemplate, validateSelectorUnchanged, workloadStrategy } from './workload.strategy.js';

export const daemonSetStrategy = workloadStrategy<DaemonSet>({
  validateName: nameIsDnsSubdomain,
  default: defaultDaemonSet,
  initialStatus: () => Object.fromEntries(alwaysCounted.map((counter) => [counter, 0])),
  prepareForCreate: (set) => setTemplateGeneration(set, Math.max(templateGeneration(set), 1)),
  prepareForUpdate(set, old) {
    const before = Math.max(templateGeneration(old), 1);
    const isSame = deepEqual(set.spec?.template, old.spec?.template);
    setTemplateGeneration(set, isSame ? before : before + 1);
  },
  validate: validateDaemonSet,
  validateUpdate: (set, old) => [...validateSelectorUnchanged(set, old), ...validateDaemonSet(set.spec ?? {})],
});

const alwaysCounted = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
] as const;

/** Counts the changes of the Pod template: a field of older versions that some clients still read, now an annotation. */
export const generationAnnotation = 'deprecated.daemonset.template.generation';

function templateGeneration(set: DaemonSet): number {
  const count = Number(set.metadata.annotations?.[generationAnnotation] ?? 0);
  return Number.isSafeInteger(count) ? count : 0;
}

function setTemplateGeneration(set: Mutable<DaemonSet>, count: number): void {
  set.metadata.annotations = { ...set.metadata.annotations, [generationAnnotation]: String(count) };
}

function defaultDaemonSet(set: Mutable<DaemonSet>): void {
  // A default, so that managedFields name the writer of the object as the owner of the annotation.
  if (set.metadata.annotations?.[generationAnnotation] === undefined) setTemplateGeneration(set, 0);
  const spec = (set.spec ??= {});
  const strategy = (spec.updateStrategy ??= {});
  strategy.type ||= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    const update = (strategy.rollingUpdate ??= {});
    update.maxUnavailable ??= 1;
    update.maxSurge ??= 0;
  }
  spec.revisionHistoryLimit ??= 10;
  defaultPodTemplate(spec);
  const status = (set.status ??= {});
  for (const counter of alwaysCounted) status[counter] ??= 0;
  fillConditionTimes(set, 'lastTransitionTime');
}

function validateDaemonSet(spec: DaemonSetSpec): FieldError[] {
  return [
    ...validateSelectedTemplate(spec, { kind: 'daemonset', isRequired: false, maker: 'DaemonSet' }),
    ...notNegative(spec.minReadySeconds, specAt.child('minReadySeconds')),
    ...validateUpdateStrategy(spec.updateStrategy ?? {}),
    ...notNegative(spec.revisionHistoryLimit, specAt.child('revisionHistoryLimit')),
  ];
}

/** Allows either maxUnavailable or maxSurge: on each node the old Pod is deleted before the new one is created, or after. */
function validateUpdateStrategy({ type, rollingUpdate }: DaemonSetUpdateStrategy): FieldError[] {
  const at = specAt.child('updateStrategy');
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') {
    const shown = { Type: type, RollingUpdate: rollingUpdate ?? null };
    return [fieldError.notSupported(at, shown, ['RollingUpdate', 'OnDelete'])];
  }
  const updateAt = at.child('rollingUpdate');
  if (!rollingUpdate) return required(undefined, updateAt);
  const { maxUnavailable, maxSurge } = rollingUpdate;
  const unavailableAt = updateAt.child('maxUnavailable');
  const surgeAt = updateAt.child('maxSurge');
  const errors = [
    ...validateIntOrPercent(maxUnavailable, unavailableAt),
    ...atMostAll(maxUnavailable, unavailableAt),
    ...validateIntOrPercent(maxSurge, surgeAt),
    ...atMostAll(maxSurge, surgeAt),
  ];
  const hasUnavailable = intOrPercent(maxUnavailable) !== 0;
  const hasSurge = intOrPercent(maxSurge) !== 0;
  if (hasUnavailable && hasSurge) {
    errors.push(fieldError.invalid(surgeAt, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  }
  if (!hasUnavailable && !hasSurge) {
    errors.push(fieldError.required(unavailableAt, 'cannot be 0 when maxSurge is 0'));
  }
  return errors;
}

const otherCounters = ['observedGeneration', 'updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'] as const;

export const daemonSetStatusSubresource = statusSubresource<DaemonSet>({
  validate: (set, old) => [
    ...validateCounters(set, [...alwaysCounted, ...otherCounters, 'collisionCount']),
    ...validateCollisions(set, old),
  ],
});

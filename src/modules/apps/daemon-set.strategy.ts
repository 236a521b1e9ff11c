import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, type FieldError } from '../../machinery/field-error.js';
import { notNegative, required } from '../../machinery/field-rules.js';
import { asFields, fillIn, fillInZero, isSet, makeFields, type Fields } from '../../machinery/fields.js';
import { atMostAll, intOrPercent, validateIntOrPercent } from '../../machinery/int-or-percent.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/status-subresource.js';
import type { Strategy } from '../../registry/strategy.js';
import { fillConditionTimes } from '../core/condition-times.js';
import { defaultPodTemplate } from '../core/pod/pod-template.js';
import { validateCollisions, validateCounters } from '../core/replica-status.validation.js';
import { selectorIsFixed, specAt, validateSelectedTemplate, workloadStrategy } from './workload.strategy.js';

export const daemonSetStrategy: Strategy = workloadStrategy({
  validateName: nameIsDnsSubdomain,
  default: defaultDaemonSet,
  status: () => Object.fromEntries(alwaysCounted.map((counter) => [counter, 0])),
  prepareForCreate: (set) => setTemplateGeneration(set, Math.max(templateGeneration(set), 1)),
  prepareForUpdate(set, old) {
    const template = (it: KubeObject) => asFields(it['spec'])['template'];
    const before = Math.max(templateGeneration(old), 1);
    setTemplateGeneration(set, deepEqual(template(set), template(old)) ? before : before + 1);
  },
  validate: validateDaemonSet,
  validateUpdate: (set, old) => [...selectorIsFixed(set, old), ...validateDaemonSet(asFields(set['spec']))],
});

const alwaysCounted = ['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'];

/** How often the template changed: a field of older versions, kept where clients that still read it look. */
export const generationAnnotation = 'deprecated.daemonset.template.generation';

function templateGeneration(set: KubeObject): number {
  const count = Number(set.metadata.annotations?.[generationAnnotation] ?? 0);
  return Number.isSafeInteger(count) ? count : 0;
}

function setTemplateGeneration(set: KubeObject, count: number): void {
  set.metadata.annotations = { ...set.metadata.annotations, [generationAnnotation]: String(count) };
}

function defaultDaemonSet(set: KubeObject): void {
  // Whoever writes the whole writes this as well, and so is noted as its owner.
  if (set.metadata.annotations?.[generationAnnotation] === undefined) setTemplateGeneration(set, 0);
  const spec = makeFields(set, 'spec');
  const strategy = makeFields(spec, 'updateStrategy');
  fillInZero(strategy, 'type', 'RollingUpdate');
  if (strategy['type'] === 'RollingUpdate') {
    const update = makeFields(strategy, 'rollingUpdate');
    fillIn(update, 'maxUnavailable', 1);
    fillIn(update, 'maxSurge', 0);
  }
  fillIn(spec, 'revisionHistoryLimit', 10);
  defaultPodTemplate(spec);
  const status = makeFields(set, 'status');
  for (const counter of alwaysCounted) fillIn(status, counter, 0);
  fillConditionTimes(set, 'lastTransitionTime');
}

function validateDaemonSet(spec: Fields): FieldError[] {
  return [
    ...validateSelectedTemplate(spec, { kind: 'daemonset', isRequired: false, maker: 'DaemonSet' }),
    ...notNegative(spec['minReadySeconds'], specAt.child('minReadySeconds')),
    ...validateUpdateStrategy(asFields(spec['updateStrategy'])),
    ...notNegative(spec['revisionHistoryLimit'], specAt.child('revisionHistoryLimit')),
  ];
}

/** On each node there is one pod: either it goes before the next one comes, or after. */
function validateUpdateStrategy(strategy: Fields): FieldError[] {
  const at = specAt.child('updateStrategy');
  const { type, rollingUpdate } = strategy;
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') {
    const shown = { Type: type, RollingUpdate: rollingUpdate ?? null };
    return [fieldError.notSupported(String(at), shown, ['RollingUpdate', 'OnDelete'])];
  }
  const updateAt = at.child('rollingUpdate');
  if (!isSet(rollingUpdate)) return required(undefined, updateAt);
  const { maxUnavailable, maxSurge } = asFields(rollingUpdate);
  const unavailableAt = updateAt.child('maxUnavailable');
  const surgeAt = updateAt.child('maxSurge');
  const errors = [
    ...validateIntOrPercent(maxUnavailable, unavailableAt),
    ...atMostAll(maxUnavailable, unavailableAt),
    ...validateIntOrPercent(maxSurge, surgeAt),
    ...atMostAll(maxSurge, surgeAt),
  ];
  const goesBefore = intOrPercent(maxUnavailable) !== 0;
  const comesBefore = intOrPercent(maxSurge) !== 0;
  if (goesBefore && comesBefore) {
    errors.push(fieldError.invalid(String(surgeAt), maxSurge, 'may not be set when maxUnavailable is non-zero'));
  }
  if (!goesBefore && !comesBefore) {
    errors.push(fieldError.required(String(unavailableAt), 'cannot be 0 when maxSurge is 0'));
  }
  return errors;
}

const otherCounters = ['observedGeneration', 'updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'];

export const daemonSetStatusSubresource = statusSubresource({
  validate: (set, old) => [
    ...validateCounters(set, [...alwaysCounted, ...otherCounters, 'collisionCount']),
    ...validateCollisions(set, old),
  ],
});

import type { ReplicationController, ReplicationControllerSpec } from '../../catalog/types/core.v1.js';
import { path, type FieldError } from '../../machinery/field-error.js';
import { notNegative, required } from '../../machinery/field-rules.js';
import { labelSelectorOf } from '../../machinery/label-selector-object.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import type { Steps } from '../../std/steps.js';
import {
  defaultPodTemplate,
  validatePodTemplate,
  validateRunsForever,
  validateTemplateLabels,
  workloadWarnings,
} from './pod/pod-template.js';
import { validateCounters, validateAtMost } from './replica-status.validation.js';
import { validateLabelMap } from './selector.validation.js';

/** Unlike the selectors of other workloads, this one is a map, and defaults to the labels of the Pod template. */
export const replicationControllerStrategy: Strategy<ReplicationController> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: defaultController,
  initialStatus: () => ({ replicas: 0 }),
  // Selectors may have tens of thousands of labels.
  validateInSteps: validateController,
  // The first clients deleted the Pods themselves.
  deletion: { dependents: 'orphan' },
  warnings: workloadWarnings(({ spec }: ReplicationController) => spec?.template, 'spec.template'),
};

function defaultController(controller: Mutable<ReplicationController>): void {
  const spec = (controller.spec ??= {});
  spec.replicas ??= 1;
  if (spec.template) {
    defaultPodTemplate(spec);
    defaultLabels(controller, spec);
  }
  controller.status ??= {};
  controller.status.replicas ??= 0;
}

/** Sets an empty selector, and empty labels of the ReplicationController, to the labels of the Pod template. */
function defaultLabels({ metadata }: Mutable<ReplicationController>, spec: Mutable<ReplicationControllerSpec>): void {
  const labels = spec.template?.metadata?.labels ?? {};
  if (Object.keys(labels).length === 0) return;
  if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
  if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
}

const at = path('spec');

function* validateController({ spec = {} }: ReplicationController): Steps<FieldError[]> {
  const { selector = {} } = spec;
  const selectorErrors = validateLabelMap(selector, at.child('selector'));
  yield;
  return [
    ...notNegative(spec.minReadySeconds, at.child('minReadySeconds')),
    ...(Object.keys(selector).length === 0 ? required(undefined, at.child('selector')) : []),
    ...selectorErrors,
    ...notNegative(spec.replicas, at.child('replicas')),
    ...(yield* validateTemplate(spec, selectorErrors.length === 0)),
  ];
}

/** Compares the selector with the labels of the template only if the selector is valid. */
function* validateTemplate(
  { selector = {}, template }: ReplicationControllerSpec,
  isValidSelector: boolean,
): Steps<FieldError[]> {
  const templateAt = at.child('template');
  if (!template) return required(template, templateAt);
  const labelSelector = isValidSelector ? labelSelectorOf({ matchLabels: selector }) : undefined;
  yield;
  const labelErrors = labelSelector ? validateTemplateLabels(labelSelector, template, templateAt) : [];
  yield;
  return [
    ...labelErrors,
    ...validatePodTemplate(template, templateAt),
    ...validateRunsForever(template, templateAt, 'ReplicationController'),
  ];
}

export const replicationControllerStatusSubresource = statusSubresource<ReplicationController>({
  validate: (controller) => [
    ...validateCounters(controller, ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']),
    ...validateCounters(controller, ['observedGeneration']),
    ...validateAtMost(controller, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], 'replicas'),
    ...validateAtMost(controller, ['availableReplicas'], 'readyReplicas', 'readyReplicas'),
  ],
});

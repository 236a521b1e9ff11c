import { path, type FieldError } from '../../machinery/field-error.js';
import { notNegative, required } from '../../machinery/field-rules.js';
import { asFields, asTextMap, fillIn, isSet, makeFields, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { labelSelectorOf } from '../../machinery/label-selector.js';
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
import { validateCounters, validateParts } from './replica-status.validation.js';
import { validateLabelMap } from './selector.validation.js';

/** The oldest of the workloads: its selector is a plain map, and it takes it from the pods' labels when it has none. */
export const replicationControllerStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: defaultController,
  prepareForCreate(controller) {
    controller['status'] = { replicas: 0 };
  },
  prepareForUpdate(controller, old) {
    controller['status'] = old['status'];
  },
  // Selectors may have tens of thousands of labels.
  validateInSteps: validateController,
  // Its first clients deleted Pods by themselves.
  deletion: { dependents: 'orphan' },
  warnings: workloadWarnings((controller) => asFields(controller['spec'])['template'], 'spec.template'),
};

function defaultController(controller: KubeObject): void {
  const spec = makeFields(controller, 'spec');
  fillIn(spec, 'replicas', 1);
  if (isSet(spec['template'])) {
    defaultPodTemplate(spec);
    takeLabels(controller, spec, asFields(asFields(asFields(spec['template'])['metadata'])['labels']));
  }
  fillIn(makeFields(controller, 'status'), 'replicas', 0);
}

function takeLabels(controller: KubeObject, spec: Fields, labels: Fields): void {
  if (Object.keys(labels).length === 0) return;
  if (asTextMap(spec['selector']).length === 0) spec['selector'] = { ...labels };
  if (asTextMap(controller.metadata.labels).length === 0) {
    controller.metadata.labels = { ...labels } as Record<string, string>;
  }
}

const at = path('spec');

function* validateController(controller: KubeObject): Steps<FieldError[]> {
  const spec = asFields(controller['spec']);
  const selector = Object.fromEntries(asTextMap(spec['selector']));
  const selectorErrors = validateLabelMap(selector, at.child('selector'));
  yield;
  return [
    ...notNegative(spec['minReadySeconds'], at.child('minReadySeconds')),
    ...(Object.keys(selector).length === 0 ? required(undefined, at.child('selector')) : []),
    ...selectorErrors,
    ...notNegative(spec['replicas'], at.child('replicas')),
    ...(yield* validateTemplate(spec['template'], selectorErrors.length === 0 ? selector : undefined)),
  ];
}

/** `selector` is undefined if it is invalid: then it is not compared with the labels of the template. */
function* validateTemplate(template: unknown, selector: Record<string, string> | undefined): Steps<FieldError[]> {
  const templateAt = at.child('template');
  if (!isSet(template)) return required(template, templateAt);
  const fields = asFields(template);
  const labelSelector = selector && labelSelectorOf({ matchLabels: selector });
  yield;
  const labelErrors = labelSelector ? validateTemplateLabels(labelSelector, fields, templateAt) : [];
  yield;
  return [
    ...labelErrors,
    ...validatePodTemplate(fields, templateAt),
    ...validateRunsForever(fields, templateAt, 'ReplicationController'),
  ];
}

export const replicationControllerStatusSubresource = statusSubresource({
  validate: (controller) => [
    ...validateCounters(controller, ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']),
    ...validateCounters(controller, ['observedGeneration']),
    ...validateParts(controller, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], 'replicas'),
    ...validateParts(controller, ['availableReplicas'], 'readyReplicas', 'readyReplicas'),
  ],
});

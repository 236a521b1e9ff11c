import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { asFields, asItems, fillIn, isSet, makeFields, type Fields } from '../../../machinery/fields.js';
import type { ObjectMeta } from '../../../machinery/kube-object.js';
import type { LabelSelector } from '../../../machinery/label-selector.js';
import { validateAnnotations } from '../../../machinery/object-meta-validation.js';
import { validateLabelMap } from '../selector.validation.js';
import { defaultPodSpec } from './pod.defaults.js';
import { validatePodSpec } from './pod.validation.js';
import { podSpecWarnings } from './pod.warnings.js';

/** What workloads make pods from. A template is part of another object: it has no status, and its metadata is only partly its own. */
export function defaultPodTemplate(owner: Fields): void {
  const template = makeFields(owner, 'template');
  fillIn(template, 'metadata', {});
  defaultPodSpec(makeFields(template, 'spec'));
}

export function validatePodTemplate(template: Fields, at: FieldPath): FieldError[] {
  const metadata = asFields(template['metadata']) as ObjectMeta;
  const spec = asFields(template['spec']);
  const errors = [
    ...validateLabelMap(metadata.labels, at.child('labels')),
    ...validateAnnotations(metadata.annotations, String(at.child('annotations'))),
    ...validatePodSpec(spec, at.child('spec')),
  ];
  if (asItems(spec['ephemeralContainers']).length > 0) {
    const message = 'ephemeral containers not allowed in pod template';
    errors.push(fieldError.forbidden(String(at.child('spec', 'ephemeralContainers')), message));
  }
  return errors;
}

/** A workload whose pods its own selector does not find would make them without end. */
export function validateTemplateLabels(selector: LabelSelector, template: Fields, at: FieldPath): FieldError[] {
  const { labels } = asFields(template['metadata']) as ObjectMeta;
  if (selector.isEmpty || selector.matches(labels)) return [];
  const message = '`selector` does not match template `labels`';
  return [fieldError.invalid(String(at.child('metadata', 'labels')), sortedLabels(labels), message)];
}

/** Pods that are kept running start again whenever they end, and nobody gives them a deadline. */
export function validateRunsForever(template: Fields, at: FieldPath, kind: string): FieldError[] {
  const spec = asFields(template['spec']);
  const errors: FieldError[] = [];
  if (spec['restartPolicy'] !== 'Always') {
    errors.push(fieldError.notSupported(String(at.child('spec', 'restartPolicy')), spec['restartPolicy'], ['Always']));
  }
  if (isSet(spec['activeDeadlineSeconds'])) {
    const message = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(fieldError.forbidden(String(at.child('spec', 'activeDeadlineSeconds')), message));
  }
  return errors;
}

export function podTemplateWarnings(template: unknown, at: string): string[] {
  return podSpecWarnings(asFields(asFields(template)['spec']), `${at}.spec`);
}

/** Maps in messages are in order. */
export function sortedLabels(labels: Readonly<Record<string, string>> | undefined): Record<string, string> | undefined {
  return labels && Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

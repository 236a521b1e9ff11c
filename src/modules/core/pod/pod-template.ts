import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { asFields, asItems, fillIn, isSet, makeFields, type Fields } from '../../../machinery/fields.js';
import type { KubeObject, ObjectMeta } from '../../../machinery/kube-object.js';
import type { LabelSelector } from '../../../machinery/label-selector.js';
import { validateDnsLabel } from '../../../machinery/names.js';
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

/** What is accepted, but hardly meant. Nothing is said again while the workload stays as it was. */
export function workloadWarnings(
  template: (object: KubeObject) => unknown,
  at: string,
): (object: KubeObject, old: KubeObject | undefined) => string[] {
  return (object, old) => {
    if (old && old.metadata.generation === object.metadata.generation) return [];
    const texts = podSpecWarnings(asFields(asFields(template(object))['spec']), `${at}.spec`);
    const problems = old ? [] : validateDnsLabel(object.metadata.name ?? '');
    if (problems.length > 0) {
      texts.unshift(
        `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
      );
    }
    return texts;
  };
}

/** Maps in messages are in order. */
export function sortedLabels<T>(labels: Readonly<Record<string, T>> | undefined): Record<string, T> | undefined {
  return labels && Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

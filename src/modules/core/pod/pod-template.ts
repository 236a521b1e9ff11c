import type { PodTemplateSpec } from '../../../catalog/types/core.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import type { LabelSelector } from '../../../machinery/label-selector.js';
import type { Mutable } from '../../../machinery/mutable.js';
import { validateDnsLabel } from '../../../machinery/names.js';
import { validateAnnotations } from '../../../machinery/object-meta-validation.js';
import { validateLabelMap } from '../selector.validation.js';
import { defaultPodSpec } from './pod.defaults.js';
import { validatePodSpec } from './pod.validation.js';
import { podSpecWarnings } from './pod.warnings.js';

/** Defaults the Pod template of a workload's spec, or of a PodTemplate. */
export function defaultPodTemplate(parent: { template?: Mutable<PodTemplateSpec> | undefined }): void {
  const template = (parent.template ??= {});
  template.metadata ??= {};
  defaultPodSpec((template.spec ??= {}));
}

/** Validates labels, annotations and spec of a Pod template. Other metadata is for Pods only. */
export function validatePodTemplate({ metadata = {}, spec = {} }: PodTemplateSpec, at: FieldPath): FieldError[] {
  const errors = [
    ...validateLabelMap(metadata.labels, at.child('labels')),
    ...validateAnnotations(metadata.annotations, String(at.child('annotations'))),
    ...validatePodSpec(spec, at.child('spec')),
  ];
  if (spec.ephemeralContainers?.length) {
    const message = 'ephemeral containers not allowed in pod template';
    errors.push(fieldError.forbidden(at.child('spec', 'ephemeralContainers'), message));
  }
  return errors;
}

/** Requires the selector of a workload to match its own Pods. Otherwise it would create Pods without end. */
export function validateTemplateLabels(
  selector: LabelSelector,
  { metadata: { labels } = {} }: PodTemplateSpec,
  at: FieldPath,
): FieldError[] {
  if (selector.isEmpty || selector.matches(labels)) return [];
  const message = '`selector` does not match template `labels`';
  return [fieldError.invalid(at.child('metadata', 'labels'), sortedLabels(labels), message)];
}

/** Requires Pods that are restarted forever: restartPolicy Always, and no deadline. */
export function validateRunsForever({ spec = {} }: PodTemplateSpec, at: FieldPath, kind: string): FieldError[] {
  const { restartPolicy, activeDeadlineSeconds } = spec;
  const errors: FieldError[] = [];
  if (restartPolicy !== 'Always') {
    errors.push(fieldError.notSupported(at.child('spec', 'restartPolicy'), restartPolicy, ['Always']));
  }
  if (activeDeadlineSeconds !== undefined) {
    const message = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(fieldError.forbidden(at.child('spec', 'activeDeadlineSeconds'), message));
  }
  return errors;
}

/** Returns the warnings about a workload and its Pod template, if its generation has changed. */
export function workloadWarnings<T extends Pick<KubeObject, 'metadata'>>(
  template: (object: T) => PodTemplateSpec | undefined,
  at: string,
): (object: T, old: T | undefined) => string[] {
  return (object, old) => {
    if (old && old.metadata.generation === object.metadata.generation) return [];
    const texts = podSpecWarnings(template(object)?.spec ?? {}, `${at}.spec`);
    const problems = old ? [] : validateDnsLabel(object.metadata.name ?? '');
    if (problems.length > 0) {
      texts.unshift(
        `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
      );
    }
    return texts;
  };
}

/** Sorts a map by key, as messages show it. */
export function sortedLabels<T>(labels: Readonly<Record<string, T>> | undefined): Record<string, T> | undefined {
  return labels && Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

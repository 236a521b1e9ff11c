import type { PodTemplateSpec } from '../../catalog/types/core.v1.js';
import type { LabelSelector as LabelSelectorObject } from '../../catalog/types/meta.v1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import type { ObjectMeta } from '../../machinery/kube-object.js';
import { labelSelectorOf } from '../../machinery/label-selector-object.js';
import type { LabelSelector } from '../../machinery/label-selector.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import {
  validatePodTemplate,
  validateRunsForever,
  validateTemplateLabels,
  workloadWarnings,
} from '../core/pod/pod-template.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';

/** The fields that all workloads have: a selector, a Pod template, and a status that clients cannot set. */
type Workload = {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly spec?: WorkloadSpec | undefined;
  readonly status?: object | undefined;
};
type WorkloadSpec = {
  readonly selector?: LabelSelectorObject | null | undefined;
  readonly template?: PodTemplateSpec | undefined;
};

export const specAt = path('spec');

interface WorkloadHooks<T extends Workload> extends Pick<
  Strategy<T>,
  'validateName' | 'default' | 'initialStatus' | 'prepareForCreate' | 'prepareForUpdate' | 'validateUpdate'
> {
  readonly validate: (spec: NonNullable<T['spec']>) => FieldError[];
}

/** The strategy of a workload whose selector is immutable. */
export function workloadStrategy<T extends Workload>(hooks: WorkloadHooks<T>): Strategy<T>;
export function workloadStrategy(hooks: WorkloadHooks<Workload>): Strategy<Workload> {
  const { validate: validateSpec, ...others } = hooks;
  const validate = ({ spec = {} }: Workload): FieldError[] => validateSpec(spec);
  return {
    ...others,
    countsGenerations: true,
    validateCreate: validate,
    validateUpdate:
      hooks.validateUpdate ?? ((object, old) => [...validate(object), ...validateSelectorUnchanged(object, old)]),
    warnings: workloadWarnings(({ spec }: Workload) => spec?.template, 'spec.template'),
  };
}

export function validateSelectorUnchanged(object: Workload, old: Workload): FieldError[] {
  return immutable(object.spec?.selector, old.spec?.selector, specAt.child('selector'));
}

interface SelectorRule {
  /** The kind in the message about an empty selector. */
  readonly kind: string;
  readonly isRequired: boolean;
  /** The kind that creates the Pods, in the message about activeDeadlineSeconds. */
  readonly maker: string;
}

/** Validates the Pod template, and that the selector matches its labels. */
export function validateSelectedTemplate({ selector, template = {} }: WorkloadSpec, rule: SelectorRule): FieldError[] {
  const at = specAt.child('selector');
  const errors = validateSelector(selector, at, rule);
  const usable = usableSelector(selector);
  if (!usable) return [...errors, fieldError.invalid(at, selector, 'invalid label selector')];
  const templateAt = specAt.child('template');
  return [
    ...errors,
    ...validateTemplateLabels(usable, template, templateAt),
    ...validatePodTemplate(template, templateAt),
    ...validateRunsForever(template, templateAt, rule.maker),
  ];
}

function validateSelector(
  selector: LabelSelectorObject | null | undefined,
  at: FieldPath,
  { kind, isRequired }: SelectorRule,
): FieldError[] {
  if (!selector) return isRequired ? required(undefined, at) : [];
  const errors = validateLabelSelectorObject(selector, at);
  if (usableSelector(selector)?.isEmpty) {
    errors.push(fieldError.invalid(at, selector, `empty selector is invalid for ${kind}`));
  }
  return errors;
}

function usableSelector(selector: LabelSelectorObject | null | undefined): LabelSelector | undefined {
  try {
    return labelSelectorOf(selector);
  } catch {
    return undefined;
  }
}

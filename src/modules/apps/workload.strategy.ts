import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import { asFields, isSet, type Fields } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { labelSelectorOf, type LabelSelector } from '../../machinery/label-selector.js';
import type { Strategy } from '../../registry/strategy.js';
import {
  validatePodTemplate,
  validateRunsForever,
  validateTemplateLabels,
  workloadWarnings,
} from '../core/pod/pod-template.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';

/** Workloads differ in how they make pods; what they are made of is the same: a selector, a template, a status not the client's. */
export const specAt = path('spec');

/** The writes of a workload whose selector is for life. */
export function workloadStrategy(
  given: Pick<Strategy, 'validateName' | 'default'> & {
    readonly status: () => Fields;
    readonly validate: (spec: Fields) => FieldError[];
    readonly prepareForCreate?: Strategy['prepareForCreate'];
    readonly prepareForUpdate?: Strategy['prepareForUpdate'];
    readonly validateUpdate?: Strategy['validateUpdate'];
  },
): Strategy {
  const validate = (object: KubeObject): FieldError[] => given.validate(asFields(object['spec']));
  return {
    validateName: given.validateName,
    countsGenerations: true,
    ...(given.default && { default: given.default }),
    prepareForCreate(object, context) {
      object['status'] = given.status();
      given.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      object['status'] = old['status'];
      given.prepareForUpdate?.(object, old, context);
    },
    validateCreate: validate,
    validateUpdate: given.validateUpdate ?? ((object, old) => [...validate(object), ...selectorIsFixed(object, old)]),
    warnings: workloadWarnings((object) => asFields(object['spec'])['template'], 'spec.template'),
  };
}

export function selectorIsFixed(object: KubeObject, old: KubeObject): FieldError[] {
  const { selector } = asFields(object['spec']);
  const { selector: before } = asFields(old['spec']);
  return immutable(selector, before, specAt.child('selector'));
}

interface SelectorRule {
  /** As the message about an empty selector says it. */
  readonly kind: string;
  readonly isRequired: boolean;
  /** What makes its pods, as the message about a deadline says it. */
  readonly maker: string;
}

/** A selector that finds the pods of its template, and a template that can be made into pods. */
export function validateSelectedTemplate(spec: Fields, rule: SelectorRule): FieldError[] {
  const at = specAt.child('selector');
  const { selector } = spec;
  const errors = validateSelector(selector, at, rule);
  const usable = usableSelector(selector);
  if (!usable) return [...errors, fieldError.invalid(String(at), selector, 'invalid label selector')];
  const template = asFields(spec['template']);
  const templateAt = specAt.child('template');
  return [
    ...errors,
    ...validateTemplateLabels(usable, template, templateAt),
    ...validatePodTemplate(template, templateAt),
    ...validateRunsForever(template, templateAt, rule.maker),
  ];
}

function validateSelector(selector: unknown, at: FieldPath, { kind, isRequired }: SelectorRule): FieldError[] {
  if (!isSet(selector)) return isRequired ? required(undefined, at) : [];
  const errors = validateLabelSelectorObject(selector, at);
  if (usableSelector(selector)?.isEmpty) {
    errors.push(fieldError.invalid(String(at), selector, `empty selector is invalid for ${kind}`));
  }
  return errors;
}

function usableSelector(selector: unknown): LabelSelector | undefined {
  try {
    return labelSelectorOf(isSet(selector) ? asFields(selector) : undefined);
  } catch {
    return undefined;
  }
}

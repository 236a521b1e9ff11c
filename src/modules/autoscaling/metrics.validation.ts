import type {
  ContainerResourceMetricSource,
  ExternalMetricSource,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
  ObjectMetricSource,
  PodsMetricSource,
  ResourceMetricSource,
} from '../../catalog/types/autoscaling.v2.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, required } from '../../machinery/field-rules.js';
import { validatePathSegment } from '../../machinery/names.js';
import { isPositive } from '../core/pod/pod-resources.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';
import { validateReference } from './reference.validation.js';

/** The field of each type of metric; a metric sets this one field alone. */
const fieldOfType: Readonly<Record<string, SourceField>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
};
const types = Object.keys(fieldOfType);
const sourceFields = ['object', 'external', 'pods', 'resource', 'containerResource'] as const;
type SourceField = (typeof sourceFields)[number];

export function validateMetrics(metrics: readonly MetricSpec[], at: FieldPath, minReplicas: number): FieldError[] {
  const errors = each(metrics, at, validateMetric);
  const isIndependentOfPods = metrics.some(({ type }) => type === 'Object' || type === 'External');
  if (minReplicas !== 0 || isIndependentOfPods) return errors;
  // Metrics of Pods cannot scale up from zero Pods.
  const message = 'must specify at least one Object or External metric to support scaling to zero replicas';
  return [...errors, fieldError.forbidden(at, message)];
}

function validateMetric(metric: MetricSpec, at: FieldPath): FieldError[] {
  const { type = '' } = metric;
  const typeAt = at.child('type');
  const expected = Object.hasOwn(fieldOfType, type) ? fieldOfType[type] : undefined;
  const present = sourceFields.filter((field) => metric[field] !== undefined);
  const errors: FieldError[] = [];
  if (type === '') errors.push(fieldError.required(typeAt, 'must specify a metric source type'));
  // Twice, as kube-apiserver does.
  if (expected === undefined) {
    errors.push(fieldError.notSupported(typeAt, type, types), fieldError.notSupported(typeAt, type, types));
  }
  errors.push(...validateSource(metric, at));
  if (expected !== undefined && !present.includes(expected)) {
    const message = 'must populate information for the given metric source';
    errors.push(fieldError.required(at.child(expected), message));
  }
  if (present.length === 1) return errors;
  for (const field of present) {
    if (field === expected) continue;
    errors.push(fieldError.forbidden(at.child(field), 'must populate the given metric source only'));
  }
  return errors;
}

/** Validates the first source that is set. */
function validateSource(metric: MetricSpec, at: FieldPath): FieldError[] {
  const { object, external, pods, resource, containerResource } = metric;
  if (object) return validateObject(object, at.child('object'));
  if (external) return validateExternal(external, at.child('external'));
  if (pods) return validatePods(pods, at.child('pods'));
  if (resource) return validateResource(resource, at.child('resource'));
  return containerResource ? validateContainerResource(containerResource, at.child('containerResource')) : [];
}

function validateObject(source: ObjectMetricSource, at: FieldPath): FieldError[] {
  const { describedObject = {}, metric, target } = source;
  return [
    ...validateReference(describedObject, at.child('describedObject')),
    ...validateIdentifier(metric, at.child('metric')),
    ...validateTarget(target, at),
    ...needsOneOf(target, at, ['value', 'averageValue'], 'must set either a target value or a target averageValue'),
  ];
}

function validateExternal({ metric, target }: ExternalMetricSource, at: FieldPath): FieldError[] {
  const either = 'must set either a target value for metric or a per-pod target';
  const errors = [
    ...validateIdentifier(metric, at.child('metric')),
    ...validateTarget(target, at),
    ...needsOneOf(target, at, ['value', 'averageValue'], either),
  ];
  if (target?.value !== undefined && target.averageValue !== undefined) {
    const message = 'may not set both a target value for metric and a per-pod target';
    errors.push(fieldError.forbidden(at.child('target', 'value'), message));
  }
  return errors;
}

function validatePods({ metric, target }: PodsMetricSource, at: FieldPath): FieldError[] {
  const errors = [...validateIdentifier(metric, at.child('metric')), ...validateTarget(target, at)];
  if (!isPositive(target?.averageValue)) {
    const message = 'must specify a positive target averageValue';
    errors.push(fieldError.required(at.child('target', 'averageValue'), message));
  }
  return errors;
}

function validateResource({ name, target }: ResourceMetricSource, at: FieldPath): FieldError[] {
  return [...required(name, at.child('name'), 'must specify a resource name'), ...validateUtilization(target, at)];
}

function validateContainerResource(source: ContainerResourceMetricSource, at: FieldPath): FieldError[] {
  const { name, container, target } = source;
  return [
    ...required(name, at.child('name'), 'must specify a resource name'),
    ...required(container, at.child('container'), 'must specify a container'),
    ...validateUtilization(target, at),
  ];
}

function validateUtilization(target: MetricTarget | undefined, at: FieldPath): FieldError[] {
  const either = 'must set either a target raw value or a target utilization';
  const errors = [
    ...validateTarget(target, at),
    ...needsOneOf(target, at, ['averageValue', 'averageUtilization'], either),
  ];
  if (target?.averageUtilization !== undefined && target.averageValue !== undefined) {
    const message = 'may not set both a target raw value and a target utilization';
    errors.push(fieldError.forbidden(at.child('target', 'averageValue'), message));
  }
  return errors;
}

/** The error names the last of the fields. */
function needsOneOf(
  target: MetricTarget = {},
  at: FieldPath,
  fields: readonly (keyof MetricTarget)[],
  message: string,
): FieldError[] {
  if (fields.some((field) => target[field] !== undefined)) return [];
  return [fieldError.required(at.child('target', fields.at(-1)!), message)];
}

function validateIdentifier({ name = '', selector }: MetricIdentifier = {}, at: FieldPath): FieldError[] {
  return [
    ...(name === ''
      ? [fieldError.required(at.child('name'), 'must specify a metric name')]
      : checked(name, at.child('name'), validatePathSegment)),
    ...validateLabelSelectorObject(selector, at.child('selector')),
  ];
}

function validateTarget(target: MetricTarget = {}, sourceAt: FieldPath): FieldError[] {
  const at = sourceAt.child('target');
  const { type = '', averageUtilization } = target;
  const errors: FieldError[] = [];
  const refuse = (field: keyof MetricTarget, message: string) =>
    errors.push(fieldError.invalid(at.child(field), target[field] ?? '', message));
  if (type === '') errors.push(fieldError.required(at.child('type'), 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    refuse('type', 'must be either Utilization, Value, or AverageValue');
  }
  for (const field of ['value', 'averageValue'] as const) {
    if (target[field] !== undefined && !isPositive(target[field])) refuse(field, 'must be positive');
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    refuse('averageUtilization', 'must be greater than 0');
  }
  return errors;
}

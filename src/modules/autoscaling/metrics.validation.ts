import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, required } from '../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, isSet, type Fields } from '../../machinery/fields.js';
import { validatePathSegment } from '../../machinery/names.js';
import { isPositive } from '../core/pod/pod-resources.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';
import { validateReference } from './reference.validation.js';

/** What is measured: each type of metric has a field of its own, and the others stay empty. */
const fieldOfType: Readonly<Record<string, string>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
};
const types = Object.keys(fieldOfType);

export function validateMetrics(metrics: unknown, at: FieldPath, minReplicas: number): FieldError[] {
  const errors = each(metrics, at, validateMetric);
  const wakes = asItems(metrics).some(({ type }) => type === 'Object' || type === 'External');
  if (minReplicas !== 0 || wakes) return errors;
  // Pods that are not there have no load by which they could be called back.
  const message = 'must specify at least one Object or External metric to support scaling to zero replicas';
  return [...errors, fieldError.forbidden(String(at), message)];
}

function validateMetric(metric: Fields, at: FieldPath): FieldError[] {
  const type = asText(metric['type']);
  const typeAt = String(at.child('type'));
  const expected = Object.hasOwn(fieldOfType, type) ? fieldOfType[type] : undefined;
  const present = ['object', 'external', 'pods', 'resource', 'containerResource'].filter((field) =>
    isSet(metric[field]),
  );
  const errors: FieldError[] = [];
  if (type === '') errors.push(fieldError.required(typeAt, 'must specify a metric source type'));
  // Said twice, as clients of the reference know it.
  if (expected === undefined) {
    errors.push(fieldError.notSupported(typeAt, type, types), fieldError.notSupported(typeAt, type, types));
  }
  const first = present[0];
  if (first !== undefined) errors.push(...sourceRules[first]!(asFields(metric[first]), at.child(first)));
  if (expected !== undefined && !present.includes(expected)) {
    const message = 'must populate information for the given metric source';
    errors.push(fieldError.required(String(at.child(expected)), message));
  }
  if (present.length === 1) return errors;
  for (const field of present) {
    if (field === expected) continue;
    errors.push(fieldError.forbidden(String(at.child(field)), 'must populate the given metric source only'));
  }
  return errors;
}

type SourceRule = (source: Fields, at: FieldPath) => FieldError[];

const sourceRules: Readonly<Record<string, SourceRule>> = {
  object: (source, at) => [
    ...validateReference(asFields(source['describedObject']), at.child('describedObject')),
    ...validateIdentifier(asFields(source['metric']), at.child('metric')),
    ...validateTarget(source, at),
    ...needsOneOf(source, at, ['value', 'averageValue'], 'must set either a target value or a target averageValue'),
  ],
  external(source, at) {
    const { value, averageValue } = asFields(source['target']);
    const errors = [
      ...validateIdentifier(asFields(source['metric']), at.child('metric')),
      ...validateTarget(source, at),
      ...needsOneOf(
        source,
        at,
        ['value', 'averageValue'],
        'must set either a target value for metric or a per-pod target',
      ),
    ];
    if (isSet(value) && isSet(averageValue)) {
      const message = 'may not set both a target value for metric and a per-pod target';
      errors.push(fieldError.forbidden(String(at.child('target', 'value')), message));
    }
    return errors;
  },
  pods: (source, at) => [
    ...validateIdentifier(asFields(source['metric']), at.child('metric')),
    ...validateTarget(source, at),
    ...(isPositive(asFields(source['target'])['averageValue'])
      ? []
      : [
          fieldError.required(
            String(at.child('target', 'averageValue')),
            'must specify a positive target averageValue',
          ),
        ]),
  ],
  resource: (source, at) => [...validateResourceName(source, at), ...validateUtilization(source, at)],
  containerResource: (source, at) => [
    ...validateResourceName(source, at),
    ...required(asText(source['container']), at.child('container'), 'must specify a container'),
    ...validateUtilization(source, at),
  ],
};

const validateResourceName: SourceRule = (source, at) =>
  required(asText(source['name']), at.child('name'), 'must specify a resource name');

const validateUtilization: SourceRule = (source, at) => {
  const { averageUtilization, averageValue } = asFields(source['target']);
  const errors = validateTarget(source, at);
  const either = 'must set either a target raw value or a target utilization';
  errors.push(...needsOneOf(source, at, ['averageValue', 'averageUtilization'], either));
  if (isSet(averageUtilization) && isSet(averageValue)) {
    const message = 'may not set both a target raw value and a target utilization';
    errors.push(fieldError.forbidden(String(at.child('target', 'averageValue')), message));
  }
  return errors;
};

/** The last of the fields is the one that is asked for. */
function needsOneOf(source: Fields, at: FieldPath, fields: readonly string[], message: string): FieldError[] {
  const target = asFields(source['target']);
  if (fields.some((field) => isSet(target[field]))) return [];
  return [fieldError.required(String(at.child('target', fields.at(-1)!)), message)];
}

function validateIdentifier(metric: Fields, at: FieldPath): FieldError[] {
  const name = asText(metric['name']);
  return [
    ...(name === ''
      ? [fieldError.required(String(at.child('name')), 'must specify a metric name')]
      : checked(name, at.child('name'), validatePathSegment)),
    ...validateLabelSelectorObject(metric['selector'], at.child('selector')),
  ];
}

const validateTarget: SourceRule = (source, sourceAt) => {
  const target = asFields(source['target']);
  const at = sourceAt.child('target');
  const type = asText(target['type']);
  const errors: FieldError[] = [];
  const refuse = (field: string, message: string) =>
    errors.push(fieldError.invalid(String(at.child(field)), target[field] ?? '', message));
  if (type === '') errors.push(fieldError.required(String(at.child('type')), 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    refuse('type', 'must be either Utilization, Value, or AverageValue');
  }
  for (const field of ['value', 'averageValue']) {
    if (isSet(target[field]) && !isPositive(target[field])) refuse(field, 'must be positive');
  }
  if (isSet(target['averageUtilization']) && asNumber(target['averageUtilization']) < 1) {
    refuse('averageUtilization', 'must be greater than 0');
  }
  return errors;
};

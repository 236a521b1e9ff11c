import type { Job, JobSpec } from '../../catalog/types/batch.v1.js';
import type { Container, PodTemplateSpec } from '../../catalog/types/core.v1.js';
import type { LabelSelector } from '../../catalog/types/meta.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { counted } from '../../machinery/error-budget.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { notNegative, oneOf, required, validateDomainPrefixedPath } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import { labelSelectorOf } from '../../machinery/label-selector-object.js';
import { validateDnsLabel } from '../../machinery/names.js';
import { goPodSpec } from '../core/go-shapes.js';
import { sortedLabels, validatePodTemplate, validateTemplateLabels } from '../core/pod/pod-template.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';
import type { JobLabels } from './job-labels.js';
import { validateFailurePolicy, validateSuccessPolicy } from './job-policies.validation.js';

const at = path('spec');
const isIndexed = (spec: JobSpec): boolean => spec.completionMode === 'Indexed';

export function jobRule(labels: JobLabels) {
  return (job: Job): FieldError[] => validateJob(job, labels, validateSelectedJob(job.spec ?? {}));
}

function validateJob(job: Job, labels: JobLabels, specErrors: readonly FieldError[]): FieldError[] {
  const { spec = {} } = job;
  return [...validateGeneratedSelector(job, spec, labels), ...specErrors, ...validateIndexedName(job, spec)];
}

/** Validates the selector and the labels of the template that the server generated from the uid. */
function validateGeneratedSelector(job: Job, spec: JobSpec, labels: JobLabels): FieldError[] {
  const { selector, manualSelector, template } = spec;
  if (manualSelector || !selector) return [];
  const labelsAt = at.child('template', 'metadata', 'labels');
  const errors = Object.entries(labels.of(job)).flatMap(([key, value]) => {
    const found = template?.metadata?.labels?.[key];
    if (found === undefined) return [fieldError.required(labelsAt.key(key), `must be '${value}'`)];
    return found === value ? [] : [fieldError.invalid(labelsAt.key(key), found, `must be '${value}'`)];
  });
  const expected = { [labels.uid]: job.metadata.uid ?? '' };
  if (!selects(selector, expected)) {
    const message = '`selector` not auto-generated';
    errors.push(fieldError.invalid(at.child('selector'), shownSelector(selector), message));
  }
  return errors;
}

function shownSelector(selector: LabelSelector | undefined): LabelSelector | undefined {
  if (!selector) return selector;
  const { matchLabels, ...rest } = selector;
  return { ...(matchLabels && { matchLabels: sortedLabels(matchLabels) }), ...rest };
}

function selects(selector: LabelSelector, labels: Record<string, string>): boolean {
  try {
    return labelSelectorOf(selector).matches(labels);
  } catch {
    return true;
  }
}

function validateSelectedJob(spec: JobSpec): FieldError[] {
  const { selector, template = {} } = spec;
  const selectorAt = at.child('selector');
  const problems = selector ? validateLabelSelectorObject(selector, selectorAt) : required(undefined, selectorAt);
  const isUsable = problems.length === 0 || !selector;
  return [
    ...validateJobSpec(spec, at),
    ...problems,
    ...(isUsable ? validateTemplateLabels(labelSelectorOf(selector), template, at.child('template')) : []),
  ];
}

const counters = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
] as const;

/** Validates the spec of a Job, or of the template of a CronJob, which has no selector. */
export function validateJobSpec(spec: JobSpec, specAt: FieldPath): FieldError[] {
  return [
    ...counters.flatMap((counter) => notNegative(spec[counter], specAt.child(counter))),
    ...validatePerIndex(spec, specAt),
    ...validateManager(spec, specAt.child('managedBy')),
    ...validateMode(spec, specAt),
    ...validateFailurePolicy(spec, specAt),
    ...validateSuccessPolicy(spec, specAt),
    ...validateReplacement(spec, specAt.child('podReplacementPolicy')),
    ...validatePodTemplate(spec.template ?? {}, specAt.child('template')),
    ...validateRestarts(spec, specAt.child('template', 'spec', 'restartPolicy')),
  ];
}

function validatePerIndex(spec: JobSpec, specAt: FieldPath): FieldError[] {
  const fields = ['backoffLimitPerIndex', 'maxFailedIndexes'] as const;
  const errors = fields.flatMap((field) => notNegative(spec[field], specAt.child(field)));
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    const where = specAt.child('backoffLimitPerIndex');
    errors.push(fieldError.required(where, 'when maxFailedIndexes is specified'));
  }
  if (isIndexed(spec)) return errors;
  for (const field of fields) {
    if (spec[field] === undefined) continue;
    errors.push(fieldError.invalid(specAt.child(field), spec[field], 'requires indexed completion mode'));
  }
  return errors;
}

const managerLengthMax = 63;

/** The name of another controller of the Job: a path with the controller's domain. */
function validateManager({ managedBy: name }: JobSpec, managerAt: FieldPath): FieldError[] {
  if (name === undefined) return [];
  const errors = validateDomainPrefixedPath(name, managerAt);
  if (name.length > managerLengthMax) errors.push(fieldError.tooLong(managerAt, managerLengthMax));
  return errors;
}

/** More completed indexes do not fit into the status. */
const indexesMax = 100_000;
const indexesWithLimitsMax = 10_000;

function validateMode(spec: JobSpec, specAt: FieldPath): FieldError[] {
  const errors = oneOf(spec.completionMode, specAt.child('completionMode'), ['NonIndexed', 'Indexed']);
  if (!isIndexed(spec)) return errors;
  const { completions, parallelism, maxFailedIndexes } = spec;
  if (completions === undefined) {
    errors.push(fieldError.required(specAt.child('completions'), 'when completion mode is Indexed'));
  }
  const atMost = (field: 'parallelism' | 'maxFailedIndexes', max: number, message: string) => {
    if ((spec[field] ?? 0) > max) errors.push(fieldError.invalid(specAt.child(field), spec[field], message));
  };
  atMost('parallelism', indexesMax, `must be less than or equal to ${indexesMax} when completion mode is Indexed`);
  if (maxFailedIndexes !== undefined && completions !== undefined) {
    atMost('maxFailedIndexes', completions, `must be less than or equal to completions`);
  }
  if (spec.backoffLimitPerIndex !== undefined && (completions ?? 0) > indexesMax) {
    const many = `when completions are above ${indexesMax} and used with backoff limit per index`;
    if (maxFailedIndexes === undefined) {
      errors.push(fieldError.required(specAt.child('maxFailedIndexes'), `must be specified ${many}`));
    }
    atMost('maxFailedIndexes', indexesWithLimitsMax, `must be less than or equal to ${indexesWithLimitsMax} ${many}`);
    if (parallelism !== undefined) {
      atMost('parallelism', indexesWithLimitsMax, `must be less than or equal to ${indexesWithLimitsMax} ${many}`);
    }
  }
  return errors;
}

function validateReplacement(spec: JobSpec, replacementAt: FieldPath): FieldError[] {
  const supported = spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  return oneOf(spec.podReplacementPolicy, replacementAt, supported);
}

/** Refuses the restartPolicy Always, with which a Pod never ends. */
function validateRestarts(spec: JobSpec, policyAt: FieldPath): FieldError[] {
  const policy = spec.template?.spec?.restartPolicy ?? '';
  if (policy === '' || policy === 'Always') {
    return [fieldError.required(policyAt, 'valid values: "OnFailure", "Never"')];
  }
  if (policy !== 'OnFailure' && policy !== 'Never') {
    return [fieldError.notSupported(policyAt, policy, ['OnFailure', 'Never'])];
  }
  if (spec.podFailurePolicy && policy !== 'Never') {
    const message = 'only "Never" is supported when podFailurePolicy is specified';
    return [fieldError.invalid(policyAt, policy, message)];
  }
  return [];
}

/** Pods of an indexed Job have its name and their index as their hostname, which must be a DNS label. */
function validateIndexedName(job: Job, spec: JobSpec): FieldError[] {
  const { completions = 0 } = spec;
  if (!isIndexed(spec) || completions <= 0) return [];
  const host = `${job.metadata.name ?? ''}-${completions - 1}`;
  if (validateDnsLabel(host).length === 0) return [];
  const message = `will not able to create pod with invalid DNS label: ${host}`;
  return [fieldError.invalid('metadata.name', job.metadata.name, message)];
}

const immutableFields = [
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
] as const;

export function jobUpdateRule(labels: JobLabels) {
  return (job: Job, old: Job): FieldError[] => {
    const { spec = {} } = job;
    const before = old.spec ?? {};
    const specErrors = validateSelectedJob(spec);
    return [
      ...validateJob(job, labels, specErrors),
      // kube-apiserver lists the errors of the spec twice in an update.
      ...specErrors.map(counted),
      ...validateCompletions(spec, before),
      ...immutable(spec.selector, before.selector, at.child('selector'), shownSelector(spec.selector)),
      ...validateTemplateUpdate(spec, old),
      ...immutableFields.flatMap((field) => immutable(spec[field], before[field], at.child(field))),
    ];
  };
}

/** completions is immutable; only an indexed Job may change it together with parallelism. */
function validateCompletions(spec: JobSpec, before: JobSpec): FieldError[] {
  const where = at.child('completions');
  if (!isIndexed(spec)) return immutable(spec.completions, before.completions, where);
  if (spec.completions === before.completions) return [];
  if (spec.completions === undefined) {
    return [fieldError.required(where, 'cannot be set to nil when completion mode is Indexed')];
  }
  if (spec.completions === spec.parallelism) return [];
  const message = `can only be modified in tandem with ${String(at.child('parallelism'))}`;
  return [fieldError.invalid(where, spec.completions, message)];
}

/**
 * The template is immutable. Only while the Job has the condition Suspended and no active Pods, its labels, annotations,
 * node affinity and other scheduling fields, and the resources of containers may change.
 */
function validateTemplateUpdate({ template = {} }: JobSpec, old: Job): FieldError[] {
  const isSuspended = old.status?.conditions?.some(({ type, status }) => type === 'Suspended' && status === 'True');
  const isMutable = old.spec?.suspend && isSuspended && !old.status?.active;
  const compared = isMutable ? immutablePart : (whole: PodTemplateSpec) => whole;
  if (deepEqual(compared(template), compared(old.spec?.template ?? {}))) return [];
  const shown = { ...template.metadata, Spec: goPodSpec(template.spec ?? {}) };
  return [fieldError.invalid(at.child('template'), shown, 'field is immutable')];
}

/** The template without the fields that may change in a suspended Job. */
function immutablePart({ metadata, spec, ...rest }: PodTemplateSpec): PodTemplateSpec {
  const { labels: _labels, annotations: _annotations, ...otherMetadata } = metadata ?? {};
  const {
    affinity,
    nodeSelector: _nodeSelector,
    tolerations: _tolerations,
    schedulingGates: _schedulingGates,
    ...pod
  } = spec ?? {};
  const { nodeAffinity: _nodeAffinity, ...otherAffinity } = affinity ?? {};
  const withoutResources = (containers: readonly Container[] | null | undefined) =>
    containers?.map(({ resources: _resources, ...container }) => container);
  return {
    ...rest,
    metadata: otherMetadata,
    spec: {
      ...pod,
      ...(Object.keys(otherAffinity).length > 0 && { affinity: otherAffinity }),
      containers: withoutResources(pod.containers),
      initContainers: withoutResources(pod.initContainers),
    },
  };
}

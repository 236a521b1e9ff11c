import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, notNegative, oneOf, required } from '../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, isSet, type Fields } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject, ObjectMeta } from '../../machinery/kube-object.js';
import { labelSelectorOf } from '../../machinery/label-selector.js';
import { validateDnsLabel, validateDnsSubdomain } from '../../machinery/names.js';
import { goPodSpec } from '../core/go-shapes.js';
import { sortedLabels, validatePodTemplate, validateTemplateLabels } from '../core/pod/pod-template.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';
import type { JobLabels } from './job-labels.js';
import { validateFailurePolicy, validateSuccessPolicy } from './job-policies.validation.js';

const at = path('spec');
const isManual = (spec: Fields): boolean => spec['manualSelector'] === true;
const isIndexed = (spec: Fields): boolean => spec['completionMode'] === 'Indexed';

export function jobRule(labels: JobLabels) {
  return (job: KubeObject): FieldError[] => {
    const spec = asFields(job['spec']);
    return [
      ...validateGeneratedSelector(job, spec, labels),
      ...validateSelectedJob(spec),
      ...validateIndexedName(job, spec),
    ];
  };
}

/** What makes its pods its own. */
function validateGeneratedSelector(job: KubeObject, spec: Fields, labels: JobLabels): FieldError[] {
  if (isManual(spec) || !isSet(spec['selector'])) return [];
  const template = asFields(asFields(spec['template'])['metadata']) as ObjectMeta;
  const labelsAt = at.child('template', 'metadata', 'labels');
  const errors = Object.entries(labels.of(job)).flatMap(([key, value]) => {
    const found = template.labels?.[key];
    if (found === undefined) return [fieldError.required(String(labelsAt.key(key)), `must be '${value}'`)];
    return found === value ? [] : [fieldError.invalid(String(labelsAt.key(key)), found, `must be '${value}'`)];
  });
  const expected = { [labels.uid]: job.metadata.uid ?? '' };
  if (!selects(spec['selector'], expected)) {
    errors.push(
      fieldError.invalid(
        String(at.child('selector')),
        shownSelector(spec['selector']),
        '`selector` not auto-generated',
      ),
    );
  }
  return errors;
}

function shownSelector(selector: unknown): unknown {
  if (!isSet(selector)) return selector;
  const { matchLabels, ...rest } = asFields(selector);
  return { ...(isSet(matchLabels) && { matchLabels: sortedLabels(asFields(matchLabels)) }), ...rest };
}

function selects(selector: unknown, labels: Record<string, string>): boolean {
  try {
    return labelSelectorOf(asFields(selector)).matches(labels);
  } catch {
    return true;
  }
}

function validateSelectedJob(spec: Fields): FieldError[] {
  const { selector } = spec;
  const selectorAt = at.child('selector');
  const problems = isSet(selector)
    ? validateLabelSelectorObject(selector, selectorAt)
    : required(undefined, selectorAt);
  const isUsable = problems.length === 0 || !isSet(selector);
  return [
    ...validateJobSpec(spec, at),
    ...problems,
    ...(isUsable
      ? validateTemplateLabels(
          labelSelectorOf(isSet(selector) ? asFields(selector) : undefined),
          asFields(spec['template']),
          at.child('template'),
        )
      : []),
  ];
}

const counters = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'];

/** Also for the templates of cron jobs, which have no selector yet. */
export function validateJobSpec(spec: Fields, specAt: FieldPath): FieldError[] {
  return [
    ...counters.flatMap((counter) => notNegative(spec[counter], specAt.child(counter))),
    ...validatePerIndex(spec, specAt),
    ...validateManager(spec, specAt.child('managedBy')),
    ...validateMode(spec, specAt),
    ...validateFailurePolicy(spec, specAt),
    ...validateSuccessPolicy(spec, specAt),
    ...validateReplacement(spec, specAt.child('podReplacementPolicy')),
    ...validatePodTemplate(asFields(spec['template']), specAt.child('template')),
    ...validateRestarts(spec, specAt.child('template', 'spec', 'restartPolicy')),
  ];
}

function validatePerIndex(spec: Fields, specAt: FieldPath): FieldError[] {
  const fields = ['backoffLimitPerIndex', 'maxFailedIndexes'];
  const errors = fields.flatMap((field) => notNegative(spec[field], specAt.child(field)));
  if (isSet(spec['maxFailedIndexes']) && !isSet(spec['backoffLimitPerIndex'])) {
    const where = String(specAt.child('backoffLimitPerIndex'));
    errors.push(fieldError.required(where, 'when maxFailedIndexes is specified'));
  }
  if (isIndexed(spec)) return errors;
  for (const field of fields) {
    if (!isSet(spec[field])) continue;
    errors.push(fieldError.invalid(String(specAt.child(field)), spec[field], 'requires indexed completion mode'));
  }
  return errors;
}

const managerLengthMax = 63;

/** Who else looks after the job says so with a name of its own domain. */
function validateManager({ managedBy }: Fields, managerAt: FieldPath): FieldError[] {
  if (!isSet(managedBy)) return [];
  const name = asText(managedBy);
  const slash = name.indexOf('/');
  const errors: FieldError[] = [];
  if (name === '') errors.push(...required(name, managerAt));
  else if (slash <= 0 || slash === name.length - 1) {
    const message = 'must be a domain-prefixed path (such as "acme.io/foo")';
    errors.push(fieldError.invalid(String(managerAt), name, message));
  } else {
    errors.push(...checked(name.slice(0, slash), managerAt, validateDnsSubdomain));
    if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(name.slice(slash + 1))) {
      const message = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
      errors.push(fieldError.invalid(String(managerAt), name.slice(slash + 1), message));
    }
  }
  if (name.length > managerLengthMax) errors.push(fieldError.tooLong(String(managerAt), managerLengthMax));
  return errors;
}

/** So many can be told apart in what the status says of them. */
const indexesMax = 100_000;
const indexesWithLimitsMax = 10_000;

function validateMode(spec: Fields, specAt: FieldPath): FieldError[] {
  const errors = oneOf(spec['completionMode'], specAt.child('completionMode'), ['NonIndexed', 'Indexed']);
  if (!isIndexed(spec)) return errors;
  const { completions, parallelism, maxFailedIndexes } = spec;
  if (!isSet(completions)) {
    errors.push(fieldError.required(String(specAt.child('completions')), 'when completion mode is Indexed'));
  }
  const atMost = (field: string, max: number, message: string) => {
    if (asNumber(spec[field]) > max) errors.push(fieldError.invalid(String(specAt.child(field)), spec[field], message));
  };
  atMost('parallelism', indexesMax, `must be less than or equal to ${indexesMax} when completion mode is Indexed`);
  if (isSet(maxFailedIndexes) && isSet(completions)) {
    atMost('maxFailedIndexes', asNumber(completions), `must be less than or equal to completions`);
  }
  if (isSet(spec['backoffLimitPerIndex']) && asNumber(completions) > indexesMax) {
    const many = `when completions are above ${indexesMax} and used with backoff limit per index`;
    if (!isSet(maxFailedIndexes)) {
      errors.push(fieldError.required(String(specAt.child('maxFailedIndexes')), `must be specified ${many}`));
    }
    atMost('maxFailedIndexes', indexesWithLimitsMax, `must be less than or equal to ${indexesWithLimitsMax} ${many}`);
    if (isSet(parallelism)) {
      atMost('parallelism', indexesWithLimitsMax, `must be less than or equal to ${indexesWithLimitsMax} ${many}`);
    }
  }
  return errors;
}

function validateReplacement(spec: Fields, replacementAt: FieldPath): FieldError[] {
  const supported = isSet(spec['podFailurePolicy']) ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  return oneOf(spec['podReplacementPolicy'], replacementAt, supported);
}

/** Pods of a job end: one that always starts again is none. */
function validateRestarts(spec: Fields, policyAt: FieldPath): FieldError[] {
  const policy = asText(asFields(asFields(spec['template'])['spec'])['restartPolicy']);
  if (policy === '' || policy === 'Always') {
    return [fieldError.required(String(policyAt), 'valid values: "OnFailure", "Never"')];
  }
  if (policy !== 'OnFailure' && policy !== 'Never') {
    return [fieldError.notSupported(String(policyAt), policy, ['OnFailure', 'Never'])];
  }
  if (isSet(spec['podFailurePolicy']) && policy !== 'Never') {
    const message = 'only "Never" is supported when podFailurePolicy is specified';
    return [fieldError.invalid(String(policyAt), policy, message)];
  }
  return [];
}

/** Pods of an indexed job are called after it and their index, and their hosts are called as they are. */
function validateIndexedName(job: KubeObject, spec: Fields): FieldError[] {
  const completions = asNumber(spec['completions']);
  if (!isIndexed(spec) || completions <= 0) return [];
  const host = `${job.metadata.name ?? ''}-${completions - 1}`;
  if (validateDnsLabel(host).length === 0) return [];
  const message = `will not able to create pod with invalid DNS label: ${host}`;
  return [fieldError.invalid('metadata.name', job.metadata.name, message)];
}

const fixed = ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'];

export function jobUpdateRule(labels: JobLabels) {
  const validate = jobRule(labels);
  return (job: KubeObject, old: KubeObject): FieldError[] => {
    const spec = asFields(job['spec']);
    const before = asFields(old['spec']);
    return [
      ...validate(job),
      ...validateSelectedJob(spec),
      ...validateCompletions(spec, before),
      ...immutable(spec['selector'], before['selector'], at.child('selector'), shownSelector(spec['selector'])),
      ...validateTemplateUpdate(spec, old),
      ...fixed.flatMap((field) => immutable(spec[field], before[field], at.child(field))),
    ];
  };
}

/** The size of the work is fixed, but an indexed job may grow and shrink as a whole. */
function validateCompletions(spec: Fields, before: Fields): FieldError[] {
  const where = at.child('completions');
  if (!isIndexed(spec)) return immutable(spec['completions'], before['completions'], where);
  if (spec['completions'] === before['completions']) return [];
  if (!isSet(spec['completions'])) {
    return [fieldError.required(String(where), 'cannot be set to nil when completion mode is Indexed')];
  }
  if (spec['completions'] === spec['parallelism']) return [];
  const message = `can only be modified in tandem with ${String(at.child('parallelism'))}`;
  return [fieldError.invalid(String(where), spec['completions'], message)];
}

const schedulingFields = ['affinity', 'nodeSelector', 'tolerations', 'schedulingGates'];

/**
 * The template is fixed. Only of a Job that its controller has suspended, and that has no active Pods, may labels,
 * annotations, the nodes that Pods may run on, and the resources of containers change.
 */
function validateTemplateUpdate(spec: Fields, old: KubeObject): FieldError[] {
  const before = asFields(old['spec']);
  const status = asFields(old['status']);
  const isSuspended = asItems(status['conditions']).some(
    (one) => one['type'] === 'Suspended' && one['status'] === 'True',
  );
  const isMutable = before['suspend'] === true && isSuspended && asNumber(status['active']) === 0;
  const compared = (template: unknown): Fields => {
    const { metadata, spec: podSpec, ...rest } = asFields(template);
    const { labels, annotations, ...otherMetadata } = asFields(metadata);
    const pod = { ...asFields(podSpec) };
    if (!isMutable) return { ...rest, metadata: { ...otherMetadata, labels, annotations }, spec: pod };
    for (const field of schedulingFields) delete pod[field];
    const { nodeAffinity: _nodes, ...neighbours } = asFields(asFields(podSpec)['affinity']);
    if (Object.keys(neighbours).length > 0) pod['affinity'] = neighbours;
    for (const list of ['containers', 'initContainers']) {
      if (isSet(pod[list])) pod[list] = asItems(pod[list]).map(({ resources: _amounts, ...container }) => container);
    }
    return { ...rest, metadata: otherMetadata, spec: pod };
  };
  if (deepEqual(compared(spec['template']), compared(before['template']))) return [];
  const { metadata, spec: podSpec } = asFields(spec['template']);
  const shown = { ...asFields(metadata), Spec: goPodSpec(asFields(podSpec)) };
  return [fieldError.invalid(String(at.child('template')), shown, 'field is immutable')];
}

import type { MutatingWebhook } from '../../catalog/types/admissionregistration.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { AdmissionCompiler } from '../../expressions/admission-compiler.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates, each, oneOf, required } from '../../machinery/field-rules.js';
import { validateDns1035Label, validateDnsSubdomain } from '../../machinery/names.js';
import { reviewVersions, validateWebhookClient } from '../../machinery/webhook-client.validation.js';
import type { Steps } from '../../std/steps.js';
import { failurePolicies, matchPolicies, validateMatchConditions, validateSelectors } from './match.validation.js';
import { validateRule } from './rule.validation.js';

const timeoutSecondsMax = 30;
/** The versions of AdmissionReview that this server sends. */
const harmless = ['None', 'NoneOnDryRun'];
const sideEffects = [...harmless, 'Some', 'Unknown'].sort();

/** The rules that an update need not meet, since the old object breaks them too. */
interface Leniency {
  readonly sideEffects?: boolean;
  readonly names?: boolean;
  readonly versions?: boolean;
  readonly matchConditions?: boolean;
  /** Expressions of the old object. */
  readonly expressions?: ReadonlySet<string>;
}

type Webhooks = readonly MutatingWebhook[] | undefined;

interface Kind {
  readonly mutates: boolean;
}

/** Validates in steps, since conditions are compiled. */
export function* validateWebhooks(webhooks: Webhooks, kind: Kind, leniency: Leniency = {}): Steps<FieldError[]> {
  const at = path('webhooks');
  const compiler = new AdmissionCompiler({ hasParams: false, hasVariables: false });
  const errors: FieldError[] = [];
  for (const [index, webhook] of (webhooks ?? []).entries()) {
    yield;
    for (const error of yield* validateWebhook(webhook, at.index(index), kind, leniency, compiler)) errors.push(error);
  }
  return [
    ...errors,
    ...(leniency.names
      ? []
      : duplicates(
          webhooks ?? [],
          ({ name = '' }) => name,
          (index) => at.index(index).child('name'),
        )),
  ];
}

export function validateWebhooksUpdate(webhooks: Webhooks, before: Webhooks = [], kind: Kind): Steps<FieldError[]> {
  const names = before.map(({ name = '' }) => name);
  return validateWebhooks(webhooks, kind, {
    sideEffects: !before.every((webhook) => harmless.includes(webhook.sideEffects ?? '')),
    names: new Set(names).size < names.length,
    versions: !before.every((webhook) => hasReviewVersion(webhook)),
    matchConditions: deepEqual(
      (webhooks ?? []).map((webhook) => webhook.matchConditions ?? null),
      before.map((webhook) => webhook.matchConditions ?? null),
    ),
    expressions: new Set(before.flatMap(expressionsOf)),
  });
}

const expressionsOf = ({ matchConditions = [] }: MutatingWebhook): string[] =>
  matchConditions.map(({ expression = '' }) => expression);

function* validateWebhook(
  webhook: MutatingWebhook,
  at: FieldPath,
  { mutates }: Kind,
  leniency: Leniency,
  compiler: AdmissionCompiler,
): Steps<FieldError[]> {
  const allowed = leniency.sideEffects ? sideEffects : harmless;
  const { sideEffects: effects, matchConditions } = webhook;
  const errors = [
    ...validateFullName(webhook.name ?? '', at.child('name')),
    ...each(webhook.rules, at.child('rules'), validateRule),
    ...oneOf(webhook.failurePolicy, at.child('failurePolicy'), failurePolicies),
    ...oneOf(webhook.matchPolicy, at.child('matchPolicy'), matchPolicies),
    ...(effects === undefined || effects === null
      ? required(undefined, at.child('sideEffects'), `must specify one of ${allowed.join(', ')}`)
      : oneOf(effects, at.child('sideEffects'), allowed)),
    ...validateTimeout(webhook.timeoutSeconds, at.child('timeoutSeconds')),
    ...validateSelectors(webhook, at),
    ...validateWebhookClient(webhook.clientConfig ?? {}, at.child('clientConfig')),
    ...(mutates ? oneOf(webhook.reinvocationPolicy, at.child('reinvocationPolicy'), ['IfNeeded', 'Never']) : []),
  ];
  if (!leniency.matchConditions) {
    const stored = leniency.expressions ?? new Set();
    const conditionsAt = at.child('matchConditions');
    errors.push(...(yield* validateMatchConditions(matchConditions, conditionsAt, compiler, stored)));
  }
  errors.push(...validateVersions(webhook, at.child('admissionReviewVersions'), leniency));
  return errors;
}

/** Requires a domain of at least three segments. */
function validateFullName(name: string, at: FieldPath): FieldError[] {
  if (name === '') return required(name, at);
  const problems = validateDnsSubdomain(name);
  if (problems.length > 0) return [fieldError.invalid(at, name, problems.join(','))];
  if (name.split('.', 3).length >= 3) return [];
  return [fieldError.invalid(at, name, 'should be a domain with at least three segments separated by dots')];
}

function validateTimeout(seconds: number | undefined, at: FieldPath): FieldError[] {
  if (seconds === undefined || (seconds >= 1 && seconds <= timeoutSecondsMax)) return [];
  const message = `the timeout value must be between 1 and ${timeoutSecondsMax} seconds`;
  return [fieldError.invalid(at, seconds, message)];
}

function hasReviewVersion({ admissionReviewVersions: versions }: MutatingWebhook): boolean {
  return (versions ?? []).some((version) => reviewVersions.includes(version));
}

function validateVersions(webhook: MutatingWebhook, at: FieldPath, leniency: Leniency): FieldError[] {
  const versions = webhook.admissionReviewVersions ?? [];
  if (versions.length === 0) return required(undefined, at, `must specify one of ${reviewVersions.join(', ')}`);
  const seen = new Set<string>();
  const errors = versions.flatMap((version, index) => {
    const versionAt = at.index(index);
    if (seen.has(version)) return [fieldError.duplicate(versionAt, version)];
    seen.add(version);
    return validateDns1035Label(version).map((problem) => fieldError.invalid(versionAt, version, problem));
  });
  if (!leniency.versions && !hasReviewVersion(webhook)) {
    errors.push(fieldError.invalid(at, versions, `must include at least one of ${reviewVersions.join(', ')}`));
  }
  return errors;
}

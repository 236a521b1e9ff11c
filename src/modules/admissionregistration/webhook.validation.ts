import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates, each, oneOf, required } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, asTexts, isSet, type Fields } from '../../machinery/fields.js';
import { validateDns1035Label, validateDnsSubdomain } from '../../machinery/names.js';
import { validateWebhookClient } from '../../machinery/webhook-client.validation.js';
import { failurePolicies, matchPolicies, validateMatchConditions, validateSelectors } from './match.validation.js';
import { validateRule } from './rule.validation.js';

const timeoutSecondsMax = 30;
/** Versions of the review that this server can send. */
const reviewVersions = ['v1', 'v1beta1'];
const harmless = ['None', 'NoneOnDryRun'];
const sideEffects = [...harmless, 'Some', 'Unknown'].sort();

/** What an update is let off since the object already broke it: rules that came later than the object. */
interface Leniency {
  readonly sideEffects?: boolean;
  readonly names?: boolean;
  readonly versions?: boolean;
  readonly matchConditions?: boolean;
}

interface Kind {
  readonly mutates: boolean;
}

export function validateWebhooks(webhooks: unknown, kind: Kind, leniency: Leniency = {}): FieldError[] {
  const at = path('webhooks');
  return [
    ...each(webhooks, at, (webhook, where) => validateWebhook(webhook, where, kind, leniency)),
    ...(leniency.names
      ? []
      : duplicates(
          asItems(webhooks),
          ({ name }) => asText(name),
          (index) => at.index(index).child('name'),
        )),
  ];
}

export function validateWebhooksUpdate(webhooks: unknown, old: unknown, kind: Kind): FieldError[] {
  const before = asItems(old);
  const names = before.map(({ name }) => asText(name));
  return validateWebhooks(webhooks, kind, {
    sideEffects: !before.every((webhook) => harmless.includes(asText(webhook['sideEffects']))),
    names: new Set(names).size < names.length,
    versions: !before.every((webhook) => isReviewed(webhook)),
    matchConditions: deepEqual(
      asItems(webhooks).map((webhook) => webhook['matchConditions'] ?? null),
      before.map((webhook) => webhook['matchConditions'] ?? null),
    ),
  });
}

function validateWebhook(webhook: Fields, at: FieldPath, { mutates }: Kind, leniency: Leniency): FieldError[] {
  const allowed = leniency.sideEffects ? sideEffects : harmless;
  const effects = webhook['sideEffects'];
  return [
    ...validateFullName(asText(webhook['name']), at.child('name')),
    ...each(webhook['rules'], at.child('rules'), validateRule),
    ...oneOf(webhook['failurePolicy'], at.child('failurePolicy'), failurePolicies),
    ...oneOf(webhook['matchPolicy'], at.child('matchPolicy'), matchPolicies),
    ...(isSet(effects)
      ? oneOf(effects, at.child('sideEffects'), allowed)
      : required(undefined, at.child('sideEffects'), `must specify one of ${allowed.join(', ')}`)),
    ...validateTimeout(webhook['timeoutSeconds'], at.child('timeoutSeconds')),
    ...validateSelectors(webhook, at),
    ...validateWebhookClient(asFields(webhook['clientConfig']), at.child('clientConfig')),
    ...(mutates ? oneOf(webhook['reinvocationPolicy'], at.child('reinvocationPolicy'), ['IfNeeded', 'Never']) : []),
    ...(leniency.matchConditions
      ? []
      : validateMatchConditions(webhook['matchConditions'], at.child('matchConditions'))),
    ...validateVersions(webhook, at.child('admissionReviewVersions'), leniency),
  ];
}

/** Names of webhooks are domains of their owners, so that two never meet by chance. */
function validateFullName(name: string, at: FieldPath): FieldError[] {
  if (name === '') return required(name, at);
  const problems = validateDnsSubdomain(name);
  if (problems.length > 0) return [fieldError.invalid(at, name, problems.join(','))];
  if (name.split('.').length >= 3) return [];
  return [fieldError.invalid(at, name, 'should be a domain with at least three segments separated by dots')];
}

function validateTimeout(seconds: unknown, at: FieldPath): FieldError[] {
  if (typeof seconds !== 'number' || (seconds >= 1 && seconds <= timeoutSecondsMax)) return [];
  const message = `the timeout value must be between 1 and ${timeoutSecondsMax} seconds`;
  return [fieldError.invalid(at, seconds, message)];
}

function isReviewed(webhook: Fields): boolean {
  return asTexts(webhook['admissionReviewVersions']).some((version) => reviewVersions.includes(version));
}

function validateVersions(webhook: Fields, at: FieldPath, leniency: Leniency): FieldError[] {
  const versions = asTexts(webhook['admissionReviewVersions']);
  if (versions.length === 0) return required(undefined, at, `must specify one of ${reviewVersions.join(', ')}`);
  const seen = new Set<string>();
  const errors = versions.flatMap((version, index) => {
    const where = String(at.index(index));
    if (seen.has(version)) return [fieldError.duplicate(where, version)];
    seen.add(version);
    return validateDns1035Label(version).map((problem) => fieldError.invalid(where, version, problem));
  });
  if (!leniency.versions && !isReviewed(webhook)) {
    errors.push(fieldError.invalid(at, versions, `must include at least one of ${reviewVersions.join(', ')}`));
  }
  return errors;
}

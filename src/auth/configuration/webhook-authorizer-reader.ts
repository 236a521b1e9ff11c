import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { parseDuration } from '../../config/duration.js';
import { compileAuthorizationExpression } from '../../expressions/authorization-expression.js';
import { codeOf } from '../../kubeconfig-client/client-error.js';
import type { ConfigReader } from '../../machinery/config-reader.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { isSet } from '../../machinery/fields.js';
import type { Clock } from '../../std/clock.js';
import { YieldTimer } from '../../std/yield-timer.js';
import type { WebhookAuthorizerConfiguration } from './webhook-authorizer-configuration.js';

const timeoutMsMax = 30_000;
const authorizedTtlMsDefault = 5 * 60_000;
const unauthorizedTtlMsDefault = 30_000;
const conditionsMax = 64;

const reviewVersions = ['v1', 'v1beta1'] as const;
const failurePolicies = ['NoOpinion', 'Deny'] as const;
const connectionTypes = ['InClusterConfig', 'KubeConfigFile'] as const;

interface WebhookOptions {
  readonly name: string;
  /** The entry of the webhook: kube-apiserver names the fields of `webhook` without it. */
  readonly at: FieldPath;
  readonly add: (error: FieldError) => void;
  readonly clock: Clock;
}

/** Reads `webhook` of an authorizer. The result is usable only if no problem was added. */
export async function readWebhookAuthorizer(
  webhook: ConfigReader,
  { name, at, add, clock }: WebhookOptions,
): Promise<WebhookAuthorizerConfiguration> {
  webhook.allowOnly(
    ...['authorizedTTL', 'cacheAuthorizedRequests', 'unauthorizedTTL', 'cacheUnauthorizedRequests', 'timeout'],
    ...['subjectAccessReviewVersion', 'matchConditionSubjectAccessReviewVersion', 'failurePolicy', 'connectionInfo'],
    'matchConditions',
  );
  const timeoutMs = readTimeout(webhook, at.child('timeout'), add);
  const authorizedTtlMs = readTtl(webhook, 'authorizedTTL', authorizedTtlMsDefault, at, add);
  const unauthorizedTtlMs = readTtl(webhook, 'unauthorizedTTL', unauthorizedTtlMsDefault, at, add);
  const choice = <Known extends string>(field: string, known: readonly Known[]) =>
    requiredChoice(webhook, field, known, at.child(field), add);
  const subjectAccessReviewVersion = choice('subjectAccessReviewVersion', reviewVersions) ?? 'v1';
  choice('matchConditionSubjectAccessReviewVersion', ['v1']);
  const failurePolicy = choice('failurePolicy', failurePolicies) ?? 'Deny';
  return {
    ...{ name, timeoutMs, authorizedTtlMs, unauthorizedTtlMs, subjectAccessReviewVersion, failurePolicy },
    cacheAuthorizedRequests: webhook.boolean('cacheAuthorizedRequests') ?? true,
    cacheUnauthorizedRequests: webhook.boolean('cacheUnauthorizedRequests') ?? true,
    kubeconfigFile: await readConnection(webhook.mapping('connectionInfo'), at.child('connectionInfo'), add),
    matchConditions: await readConditions(webhook, at.child('matchConditions'), add, clock),
  };
}

/** Returns 0 for an absent field, as Go decodes it, and undefined for one that is no duration. */
function duration(reader: ConfigReader, field: string): { readonly ms: number; readonly text: string } | undefined {
  const text = reader.string(field);
  if (text === undefined) return isSet(reader.raw(field)) ? undefined : { ms: 0, text: '0s' };
  const ms = parseDuration(text);
  if (ms !== undefined) return { ms, text };
  reader.addProblem(field, 'must be a duration like 300ms, 30s or 1h30m');
  return undefined;
}

function readTimeout(webhook: ConfigReader, at: FieldPath, add: WebhookOptions['add']): number {
  const timeout = duration(webhook, 'timeout');
  if (!timeout) return 0;
  const { ms, text } = timeout;
  if (ms === 0) add(fieldError.required(at));
  else if (ms < 0 || ms > timeoutMsMax) add(fieldError.invalid(at, text, 'must be > 0s and <= 30s'));
  return ms;
}

function readTtl(
  webhook: ConfigReader,
  field: string,
  msDefault: number,
  at: FieldPath,
  add: WebhookOptions['add'],
): number {
  const ttl = duration(webhook, field);
  if (!ttl) return 0;
  if (ttl.ms < 0) add(fieldError.invalid(at.child(field), ttl.text, 'must be > 0s'));
  return ttl.ms === 0 ? msDefault : ttl.ms;
}

function requiredChoice<Known extends string>(
  reader: ConfigReader,
  field: string,
  known: readonly Known[],
  at: FieldPath,
  add: WebhookOptions['add'],
): Known | undefined {
  const text = reader.string(field) ?? '';
  if (text === '') {
    add(fieldError.required(at));
    return undefined;
  }
  const found = known.find((one) => one === text);
  if (found === undefined) add(fieldError.notSupported(at, text, known));
  return found;
}

/** Returns the kubeconfig; undefined for InClusterConfig. */
async function readConnection(
  connection: ConfigReader,
  at: FieldPath,
  add: WebhookOptions['add'],
): Promise<string | undefined> {
  connection.allowOnly('type', 'kubeConfigFile');
  const type = requiredChoice(connection, 'type', connectionTypes, at.child('type'), add);
  const file = connection.string('kubeConfigFile');
  const fileAt = at.child('kubeConfigFile');
  if (type === 'InClusterConfig' && file !== undefined) {
    add(fieldError.invalid(fileAt, file, 'can only be set when type=KubeConfigFile'));
  }
  if (type !== 'KubeConfigFile') return undefined;
  if (file === undefined || file === '') add(fieldError.required(fileAt));
  else if (!isAbsolute(file)) add(fieldError.invalid(fileAt, file, 'must be an absolute path'));
  else {
    const problem = await problemOfFile(file);
    if (problem !== undefined) add(fieldError.invalid(fileAt, file, problem));
  }
  return file;
}

async function problemOfFile(file: string): Promise<string | undefined> {
  try {
    return (await stat(file)).isFile() ? undefined : 'must be a regular file';
  } catch (error) {
    return `error loading file: ${codeOf(error)}`;
  }
}

/** Returns the expressions, each of which compiles. The authorizer compiles them again when it is opened. */
async function readConditions(
  webhook: ConfigReader,
  at: FieldPath,
  add: WebhookOptions['add'],
  clock: Clock,
): Promise<readonly string[]> {
  const conditions = webhook.mappings('matchConditions');
  if (conditions.length > conditionsMax) {
    add(fieldError.tooMany(at, conditions.length, conditionsMax));
    return [];
  }
  const expressions = new Set<string>();
  const timer = new YieldTimer(clock);
  for (const [index, condition] of conditions.entries()) {
    const expressionAt = at.index(index).child('expression');
    const expression = condition.allowOnly('expression').string('expression') ?? '';
    if (expression.trim() === '') add(fieldError.required(expressionAt));
    else if (expressions.has(expression)) add(fieldError.duplicate(expressionAt, expression));
    else {
      const { problem } = await timer.run(compileAuthorizationExpression(expression));
      if (problem) add(fieldError.invalid(expressionAt, expression, problem.text));
      expressions.add(expression);
    }
  }
  return [...expressions];
}

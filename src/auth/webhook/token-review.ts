import { decodeJson, encodeJson } from '../../codec/json.js';
import { CheckedFields } from '../../kubeconfig-client/checked-fields.js';
import type { InjectedDecision } from '../../kubeconfig-client/injected-call.js';
import type { JsonValue } from '../../machinery/kube-object.js';
import { allAuthenticated, allUnauthenticated, userNames, type UserInfo } from '../../machinery/user-info.js';
import { WebhookError } from './webhook-error.js';

/** The status of a TokenReview. */
export interface TokenReviewStatus {
  /** Undefined if the token is not authenticated. */
  readonly user: UserInfo | undefined;
  readonly audiences: readonly string[];
  /** Reason for which the token is not authenticated; may be empty. */
  readonly error: string;
}

/** `apiVersion` is that of the group authentication.k8s.io. */
export function encodeTokenReview(apiVersion: string, token: string, audiences: readonly string[]): Buffer {
  return encodeJson({
    kind: 'TokenReview',
    apiVersion,
    metadata: {},
    spec: { token, ...(audiences.length > 0 && { audiences }) },
    status: { user: {} },
  });
}

/** Returns the answer of a webhook that rejects a token. */
export function rejectedReview(apiVersion: string, { message }: InjectedDecision): object {
  return { kind: 'TokenReview', apiVersion, status: { authenticated: false, error: message } };
}

/**
 * Decodes the answer of a webhook. As in kube-apiserver, kind and apiVersion may be absent and must be right otherwise,
 * and the user of a token that is not authenticated is ignored.
 */
export function decodeTokenReview(bytes: Buffer, apiVersion: string): TokenReviewStatus {
  const review = CheckedFields.of(decoded(bytes), '', failure);
  if ((review.text('kind') ?? 'TokenReview') !== 'TokenReview') throw review.wrong('kind', 'must be TokenReview');
  if ((review.text('apiVersion') ?? apiVersion) !== apiVersion) {
    throw review.wrong('apiVersion', `must be ${apiVersion}, that of the request`);
  }
  const status = review.object('status');
  if (!status) return { user: undefined, audiences: [], error: '' };
  return {
    user: status.flag('authenticated') ? decodeUser(status) : undefined,
    audiences: status.texts('audiences'),
    error: status.text('error') ?? '',
  };
}

function failure(problem: string): WebhookError {
  return new WebhookError(`its answer is not a TokenReview: ${problem}`);
}

/** Errors have no cause and no text of the decoder: an answer may repeat the token. */
function decoded(bytes: Buffer): JsonValue {
  try {
    return decodeJson(bytes);
  } catch {
    throw failure('it is not JSON');
  }
}

function decodeUser(status: CheckedFields): UserInfo {
  const user = status.object('user');
  if (!user) throw status.wrong('user', 'is required with authenticated');
  const name = user.requiredText('username');
  return {
    name,
    uid: user.text('uid') ?? '',
    groups: withAuthenticated(name, user.texts('groups')),
    extra: decodeExtra(user),
  };
}

/** As kube-apiserver: every user is in system:authenticated, except for anonymous ones. */
function withAuthenticated(name: string, groups: readonly string[]): readonly string[] {
  const isComplete = name === userNames.anonymous || groups.includes(allAuthenticated);
  return isComplete || groups.includes(allUnauthenticated) ? groups : [...groups, allAuthenticated];
}

function decodeExtra(user: CheckedFields): UserInfo['extra'] {
  const extra = user.object('extra');
  const values = extra?.names().map((name) => [name, extra.value(name) ?? []] as const) ?? [];
  if (!values.every(hasTexts)) throw user.wrong('extra', 'must be a map of lists of strings');
  return Object.fromEntries(values);
}

function hasTexts(entry: readonly [string, JsonValue]): entry is readonly [string, string[]] {
  return Array.isArray(entry[1]) && entry[1].every((text) => typeof text === 'string');
}

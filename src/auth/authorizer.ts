import { ApiError } from '../machinery/api-error.js';
import type { FieldSelector } from '../machinery/field-selector.js';
import { goQuote } from '../machinery/field-error.js';
import type { LabelSelector } from '../machinery/label-selector.js';
import { listed } from '../machinery/listed.js';
import type { PolicyRule } from '../machinery/policy-rule.js';
import type { UserInfo } from '../machinery/user-info.js';
import { distinctValues } from '../machinery/value-key.js';
import type { RequestSteps } from '../tracing/request-steps.js';
import { requiredRule, ruleScope, ruleText } from './required-rule.js';

/** Attributes of a request for authorization, for resources and for other paths. */
export interface AuthorizationAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  /** The field selector of a list, watch or deletecollection; undefined if it has none, or an invalid one. */
  readonly fieldSelector?: FieldSelector | undefined;
  /** The label selector of a list, watch or deletecollection; undefined if it has none, or an invalid one. */
  readonly labelSelector?: LabelSelector | undefined;
  /** Gets the spans of calls of other servers; undefined if the decision is not that about a request. */
  readonly steps?: RequestSteps | undefined;
}

type Decision = 'allow' | 'deny' | 'no opinion';

export interface Authorization {
  readonly decision: Decision;
  readonly reason: string;
  /** Problem that the decision was made in spite of, for status.evaluationError of reviews. */
  readonly evaluationError?: string;
}

/** The grant by which RBAC allows a request. */
export interface GrantDetails {
  readonly binding: ObjectName;
  readonly role: ObjectName;
  readonly rule: PolicyRule;
}

interface ObjectName {
  readonly kind: string;
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
}

/** One authorizer of the chain. */
export interface Authorizer {
  readonly name: string;
  /** Label of metrics. Absent: `name`, and the name in lower case is the label `name`. */
  readonly type?: string;
  authorize(attributes: AuthorizationAttributes): Authorization | Promise<Authorization>;
  /** Returns the rules of the user in a namespace. Absent if the authorizer cannot list rules. */
  rulesFor?(user: UserInfo, namespace: string): ResolvedRules | Promise<ResolvedRules>;
  /** Returns the grant by which `authorize` allows the request; undefined if there is none. */
  grantFor?(attributes: AuthorizationAttributes): GrantDetails | undefined;
}

/** The authorizers in force, which can be replaced while the server runs. */
export interface Authorizers {
  /** The authorizers at this moment. A decision uses one chain from its beginning to its end. */
  readonly chain: AuthorizerList;
}

/** Authorizers, in order. They stay open while something holds them, although they may be replaced. */
export interface AuthorizerList extends Authorizers {
  readonly authorizers: readonly Authorizer[];
  /** Keeps the authorizers open until release() is called. */
  hold(): void;
  release(): void;
}

interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

export interface ResolvedRules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** Reason for which the rules may be incomplete. */
  readonly problem?: string;
}

export const noRules: ResolvedRules = { resourceRules: [], nonResourceRules: [] };
export const everyRule: ResolvedRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

/** Returns the rules of all authorizers without duplicates. An authorizer that cannot list rules adds a problem. */
export async function rulesFor({ chain }: Authorizers, user: UserInfo, namespace: string): Promise<ResolvedRules> {
  chain.hold();
  try {
    return await rulesOf(chain.authorizers, user, namespace);
  } finally {
    chain.release();
  }
}

async function rulesOf(authorizers: readonly Authorizer[], user: UserInfo, namespace: string): Promise<ResolvedRules> {
  const resourceRules: ResourceRule[] = [];
  const nonResourceRules: NonResourceRule[] = [];
  const problems: string[] = [];
  for (const authorizer of authorizers) {
    const cannot: ResolvedRules = {
      ...noRules,
      problem: `${authorizer.name} authorizer does not support user rule resolution`,
    };
    const rules = (await authorizer.rulesFor?.(user, namespace)) ?? cannot;
    for (const rule of rules.resourceRules) resourceRules.push(rule);
    for (const rule of rules.nonResourceRules) nonResourceRules.push(rule);
    if (rules.problem !== undefined) problems.push(rules.problem);
  }
  return {
    resourceRules: distinctValues(resourceRules),
    nonResourceRules: distinctValues(nonResourceRules),
    ...(problems.length > 0 && { problem: problems.join(', ') }),
  };
}

export const noOpinion: Authorization = { decision: 'no opinion', reason: '' };

/**
 * Returns the decision of the first authorizer that allows or denies; otherwise no opinion, which callers treat as
 * denied. Returns a promise only if an authorizer did.
 */
export function authorize(
  { chain }: Authorizers,
  attributes: AuthorizationAttributes,
): Authorization | Promise<Authorization> {
  return askFrom(0, chain, attributes, []);
}

/** Asks the authorizers from `first` on. `passed` are the answers with a reason of those before, which had no opinion. */
function askFrom(
  first: number,
  chain: AuthorizerList,
  attributes: AuthorizationAttributes,
  passed: Authorization[],
): Authorization | Promise<Authorization> {
  const isDecided = (answer: Authorization): boolean => {
    if (answer.decision !== 'no opinion') return true;
    if (answer.reason !== '') passed.push(answer);
    return false;
  };
  const { authorizers } = chain;
  for (let next = first; next < authorizers.length; next++) {
    const answer = authorizers[next]!.authorize(attributes);
    if (answer instanceof Promise) {
      chain.hold();
      return answer.then(
        (one) => {
          // Released last, so that an authorizer that is asked next is still open.
          try {
            return isDecided(one) ? one : askFrom(next + 1, chain, attributes, passed);
          } finally {
            chain.release();
          }
        },
        (error: unknown) => {
          chain.release();
          throw error;
        },
      );
    }
    if (isDecided(answer)) return answer;
  }
  return undecided(passed);
}

/** Returns the decision if no authorizer decided; `passed` are the answers that have a reason. */
export function undecided(passed: readonly Authorization[]): Authorization {
  if (passed.length === 0) return noOpinion;
  const errors = passed.flatMap(({ evaluationError }) => (evaluationError === undefined ? [] : [evaluationError]));
  return {
    decision: 'no opinion',
    // As kube-apiserver.
    reason: passed.map(({ reason }) => reason).join('\n'),
    ...(errors.length > 0 && { evaluationError: listed(errors) }),
  };
}

/** Makes the 403 error of a request that is not allowed. */
export type Refusal = (attributes: AuthorizationAttributes, authorization: Authorization) => ApiError;

/** Returns the 403 error of a request that no authorizer allowed. */
export const plainRefusal: Refusal = (attributes, { reason }) => forbiddenError(attributes, reason);

/** Adds the rule that RBAC requires. A rule does not help against an authorizer that denies. */
const explainedRefusal: Refusal = (attributes, { decision, reason }) => {
  if (decision === 'deny') return forbiddenError(attributes, reason);
  const needed = `requires the rule ${ruleText(requiredRule(attributes))} ${ruleScope(attributes)}`;
  return forbiddenError(attributes, reason === '' ? needed : `${reason}; ${needed}`);
};

/** `isExplained`: value of --explain-forbidden. */
export const refusalWith = (isExplained: boolean): Refusal => (isExplained ? explainedRefusal : plainRefusal);

export function forbiddenError(attributes: AuthorizationAttributes, reason: string): ApiError {
  const message = forbiddenMessage(attributes, reason);
  if (!attributes.isResourceRequest) {
    return new ApiError({ reason: 'Forbidden', message: `forbidden: ${message}`, details: {} });
  }
  const { group, resource, name } = attributes;
  return ApiError.forbidden({ group, resource }, name, message);
}

/** Returns the part of the message after `is forbidden: `, as in kube-apiserver. */
function forbiddenMessage(attributes: AuthorizationAttributes, reason: string): string {
  const { user, verb, group, resource, subresource, namespace, path } = attributes;
  const who = `User ${goQuote(user.name)} cannot ${verb}`;
  const tail = reason === '' ? '' : `: ${reason}`;
  if (!attributes.isResourceRequest) return `${who} path ${goQuote(path)}${tail}`;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`;
  return `${who} resource ${goQuote(what)} in API group ${goQuote(group)} ${where}${tail}`;
}

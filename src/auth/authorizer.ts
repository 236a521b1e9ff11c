import { goQuote } from '../machinery/field-error.js';
import type { UserInfo } from '../machinery/user-info.js';

/** What is asked: may this user do this? One shape for requests for objects and for other paths. */
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
}

export type Decision = 'allow' | 'deny' | 'no opinion';

export interface Authorization {
  readonly decision: Decision;
  readonly reason: string;
}

/** One module of the chain. An error in it is not an opinion: it throws, and the chain goes on without it. */
export interface Authorizer {
  readonly name: string;
  authorize(attributes: AuthorizationAttributes): Authorization | Promise<Authorization>;
}

export const noOpinion: Authorization = { decision: 'no opinion', reason: '' };

/** The union: the first to allow or deny decides; when none has an opinion, the answer is no. */
export async function authorize(
  authorizers: readonly Authorizer[],
  attributes: AuthorizationAttributes,
): Promise<Authorization> {
  const reasons: string[] = [];
  for (const authorizer of authorizers) {
    const pending = authorizer.authorize(attributes);
    const answer = pending instanceof Promise ? await pending : pending;
    if (answer.decision !== 'no opinion') return answer;
    if (answer.reason !== '') reasons.push(answer.reason);
  }
  return { decision: 'no opinion', reason: reasons.join(', ') };
}

/** The sentence a refusal carries after `is forbidden: `. */
export function forbiddenMessage(attributes: AuthorizationAttributes, reason: string): string {
  const { user, verb, group, resource, subresource, namespace, path } = attributes;
  const who = `User ${goQuote(user.name)} cannot ${verb}`;
  const tail = reason === '' ? '' : `: ${reason}`;
  if (!attributes.isResourceRequest) return `${who} path ${goQuote(path)}${tail}`;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`;
  return `${who} resource ${goQuote(what)} in API group ${goQuote(group)} ${where}${tail}`;
}

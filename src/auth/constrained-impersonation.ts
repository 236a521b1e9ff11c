import { ApiError } from '../machinery/api-error.js';
import { path } from '../machinery/field-error.js';
import { validateDomainPrefixedPath } from '../machinery/field-rules.js';
import { nameIsDnsSubdomain } from '../machinery/names.js';
import {
  allAuthenticated,
  groupNames,
  nodeUserPrefix,
  parseServiceAccountUserName,
  privilegedGroup,
  type UserInfo,
} from '../machinery/user-info.js';
import type { Clock } from '../std/clock.js';
import {
  authorize,
  forbiddenError,
  type AuthorizationAttributes,
  type Authorizers,
  type Refusal,
} from './authorizer.js';
import { impersonationChecks, type Impersonation, type ImpersonationCheck } from './impersonation.js';

type ImpersonationMode = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info' | 'legacy';

type Decision = 'allowed' | 'denied';

/** Counts attempts of impersonation and their authorization checks. The mode of a denied attempt is ''. */
export interface ImpersonationObserver {
  attempted(mode: ImpersonationMode | '', decision: Decision, seconds: number): void;
  authorized(mode: ImpersonationMode, decision: Decision, seconds: number): void;
}

/** The user of an allowed impersonation. */
interface ConstrainedUser {
  readonly user: UserInfo;
  /** The verb that allows it, for the audit log; '' for `impersonate`. */
  readonly constraint: string;
}

interface Dependencies {
  /** `authentication.k8s.io` */
  readonly authenticationGroup: string;
  /** `kubernetes.io`, the domain of keys of extra. */
  readonly labelDomain: string;
  readonly observer: ImpersonationObserver;
  readonly refusal: Refusal;
  readonly clock: Clock;
}

type AttributesOf = (check: ImpersonationCheck) => AuthorizationAttributes;
type RefusalOf = (attributes: AuthorizationAttributes) => Promise<ApiError | undefined>;

/** As in kube-apiserver: the most specific mode is tried first, and the verb `impersonate` last. */
const modes: readonly ImpersonationMode[] = [
  'associated-node',
  'arbitrary-node',
  'serviceaccount',
  'user-info',
  'legacy',
];
const lastModesMax = 10_000;
/** From this number of groups or values on, one check of `*` is made before those of each. */
const manyChecks = 4;

/**
 * Constrained impersonation (KEP-5284): with the verb `impersonate:<mode>` on an identity and
 * `impersonate-on:<mode>:<verb>` on a resource, a user can act as that identity for that verb only. The verb `impersonate`
 * still allows everything.
 */
export class ConstrainedImpersonation {
  /** The mode that allowed the last impersonation of a user, which is tried first. */
  private readonly lastModes = new Map<string, ImpersonationMode>();

  constructor(private readonly dependencies: Dependencies) {}

  /** Returns the user to act as. `request` has the authenticated user. Throws the 403 error of the first mode that applies. */
  async impersonate(
    wanted: Impersonation,
    request: AuthorizationAttributes,
    authorizers: Authorizers,
  ): Promise<ConstrainedUser> {
    const { observer, clock } = this.dependencies;
    const beginMs = clock.monotonicMs();
    const seconds = () => (clock.monotonicMs() - beginMs) / 1000;
    const last = this.lastModes.get(request.user.name);
    let refusal: ApiError | undefined;
    for (const mode of last ? [last, ...modes.filter((other) => other !== last)] : modes) {
      if (!this.applies(mode, wanted, request.user)) continue;
      const refused = await this.refusalIn(mode, wanted, request, authorizers);
      if (!refused) {
        this.remember(request.user.name, mode);
        observer.attempted(mode, 'allowed', seconds());
        return { user: userIn(mode, wanted), constraint: mode === 'legacy' ? '' : `impersonate:${mode}` };
      }
      refusal ??= refused;
    }
    observer.attempted('', 'denied', seconds());
    throw refusal ?? ApiError.internal('no mode of impersonation applies');
  }

  private applies(mode: ImpersonationMode, { user, named }: Impersonation, requestor: UserInfo): boolean {
    if (mode === 'legacy') return true;
    const node = nodeNameOf(user.name);
    const isAccount = parseServiceAccountUserName(user.name) !== undefined;
    if (mode === 'user-info') return node === undefined && !isAccount;
    const hasOnlyName = user.uid === '' && named.groups.length === 0 && Object.keys(named.extra).length === 0;
    if (!hasOnlyName) return false;
    if (mode === 'serviceaccount') return isAccount;
    return node !== undefined && (mode === 'arbitrary-node' || this.isOnNode(requestor, node));
  }

  /** True for a ServiceAccount whose token is bound to the Node, or to a Pod on it. */
  private isOnNode(requestor: UserInfo, node: string): boolean {
    if (parseServiceAccountUserName(requestor.name) === undefined) return false;
    const key = `authentication.${this.dependencies.labelDomain}/node-name`;
    const names = Object.hasOwn(requestor.extra, key) ? requestor.extra[key]! : [];
    return names.length === 1 && names[0] === node;
  }

  private async refusalIn(
    mode: ImpersonationMode,
    wanted: Impersonation,
    request: AuthorizationAttributes,
    authorizers: Authorizers,
  ): Promise<ApiError | undefined> {
    const { authenticationGroup } = this.dependencies;
    const refusalOf = (attributes: AuthorizationAttributes) => this.refusalOf(mode, attributes, authorizers);
    const user = mode === 'associated-node' ? this.withoutExtraValues(request.user) : request.user;
    const identity = (check: ImpersonationCheck): AuthorizationAttributes => ({
      ...{ user, isResourceRequest: true, path: '', version: 'v1' },
      verb: mode === 'legacy' ? 'impersonate' : `impersonate:${mode}`,
      ...check,
    });
    if (mode === 'legacy') {
      for (const check of impersonationChecks(wanted, authenticationGroup)) {
        const refused = await refusalOf(identity(check));
        if (refused) return refused;
      }
      return undefined;
    }
    // A spread would leave them out: attributes of a request parse its selectors when they are read.
    const { fieldSelector, labelSelector } = request;
    const verb = `impersonate-on:${mode}:${request.verb}`;
    const onRequest = { ...request, fieldSelector, labelSelector, user, verb };
    const refused = (await refusalOf(onRequest)) ?? (await refusalOf(identity(this.nameCheck(mode, wanted.user.name))));
    if (refused || mode !== 'user-info') return refused;
    return (
      (await this.uidRefusal(wanted, identity, refusalOf)) ??
      (await this.groupsRefusal(wanted, identity, refusalOf)) ??
      (await this.extraRefusal(wanted, identity, refusalOf))
    );
  }

  private nameCheck(mode: ImpersonationMode, userName: string): ImpersonationCheck {
    const account = parseServiceAccountUserName(userName);
    const node = nodeNameOf(userName);
    if (account) return this.check('serviceaccounts', account.name, { namespace: account.namespace });
    if (node === undefined) return this.check('users', userName);
    // The Node of the ServiceAccount was compared before; one permission is valid for the Pods of all Nodes.
    return this.check('nodes', mode === 'associated-node' ? '*' : node);
  }

  private async uidRefusal({ user }: Impersonation, identity: AttributesOf, refusalOf: RefusalOf) {
    return user.uid === '' ? undefined : refusalOf(identity(this.check('uids', user.uid)));
  }

  private async groupsRefusal(
    { named: { groups } }: Impersonation,
    identity: AttributesOf,
    refusalOf: RefusalOf,
  ): Promise<ApiError | undefined> {
    const attributes = (name: string) => identity(this.check('groups', name));
    if (groups.includes('')) {
      return forbiddenError(attributes(''), 'impersonating the empty string group is not allowed');
    }
    if (groups.includes(privilegedGroup)) {
      return forbiddenError(attributes(privilegedGroup), 'impersonating the system:masters group is not allowed');
    }
    if (groups.length >= manyChecks && !(await refusalOf(attributes('*')))) return undefined;
    for (const group of groups) {
      const refused = await refusalOf(attributes(group));
      if (refused) return refused;
    }
    return undefined;
  }

  private async extraRefusal(
    { named: { extra } }: Impersonation,
    identity: AttributesOf,
    refusalOf: RefusalOf,
  ): Promise<ApiError | undefined> {
    const attributes = (subresource: string, name: string) => identity(this.check('userextras', name, { subresource }));
    const problem = extraProblem(extra);
    if (problem !== undefined) return forbiddenError(attributes('', ''), problem);
    const pairs = Object.entries(extra).flatMap(([key, values]) => values.map((value) => [key, value] as const));
    if (pairs.length >= manyChecks && !(await refusalOf(attributes('*', '*')))) return undefined;
    for (const [key, value] of pairs) {
      const refused = await refusalOf(attributes(key, value));
      if (refused) return refused;
    }
    return undefined;
  }

  private check(resource: string, name: string, more: Partial<ImpersonationCheck> = {}): ImpersonationCheck {
    return { group: this.dependencies.authenticationGroup, resource, subresource: '', namespace: '', name, ...more };
  }

  private async refusalOf(
    mode: ImpersonationMode,
    attributes: AuthorizationAttributes,
    authorizers: Authorizers,
  ): Promise<ApiError | undefined> {
    const { observer, refusal, clock } = this.dependencies;
    const beginMs = clock.monotonicMs();
    const authorization = await authorize(authorizers, attributes);
    const isAllowed = authorization.decision === 'allow';
    observer.authorized(mode, isAllowed ? 'allowed' : 'denied', (clock.monotonicMs() - beginMs) / 1000);
    return isAllowed ? undefined : refusal(attributes, authorization);
  }

  /** Replaces the extra by its keys: authorizers that cache decisions need only one for the Pods of all Nodes. */
  private withoutExtraValues(requestor: UserInfo): UserInfo {
    const key = `authentication.${this.dependencies.labelDomain}/associated-node-keys`;
    return { ...requestor, extra: { [key]: Object.keys(requestor.extra).sort() } };
  }

  private remember(userName: string, mode: ImpersonationMode): void {
    if (this.lastModes.size >= lastModesMax && !this.lastModes.has(userName)) {
      this.lastModes.delete(this.lastModes.keys().next().value!);
    }
    this.lastModes.set(userName, mode);
  }
}

/** Returns the name of the Node of a user name; undefined for other users. */
function nodeNameOf(userName: string): string | undefined {
  if (!userName.startsWith(nodeUserPrefix)) return undefined;
  const name = userName.slice(nodeUserPrefix.length);
  return nameIsDnsSubdomain(name).length === 0 ? name : undefined;
}

/** Nodes have fixed groups in the constrained modes. */
function userIn(mode: ImpersonationMode, { user }: Impersonation): UserInfo {
  const isNode = mode === 'associated-node' || mode === 'arbitrary-node';
  return isNode ? { ...user, groups: [groupNames.nodes, allAuthenticated] } : user;
}

/** Returns the problem of keys or values that the verb `impersonate` allows, and the constrained modes do not. */
function extraProblem(extra: Impersonation['named']['extra']): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const errors = validateDomainPrefixedPath(key, path('extra').child('key'));
    if (errors.length > 0) {
      return `impersonating an invalid key in extra is not allowed: ${errors.map(({ field, detail }) => `${field}: ${detail}`).join(', ')}`;
    }
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}

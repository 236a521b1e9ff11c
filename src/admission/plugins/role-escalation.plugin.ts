import { ApiError } from '../../machinery/api-error.js';
import { goQuote } from '../../machinery/field-error.js';
import { asFields, asItems } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { missingRules, shownList, shownRule } from '../../machinery/policy-escalation.js';
import { policyRuleOf, roleRefOf, type PolicyRule, type RoleRef } from '../../machinery/policy-rule.js';
import { privilegedGroup, type UserInfo } from '../../machinery/user-info.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { onlyCleanupChanges } from '../cleanup-changes.js';
import type { WantedRight } from '../plugin-dependencies.js';
import { forbid } from '../refusal.js';

export interface RoleEscalationParts {
  /** `rbac.authorization.k8s.io` */
  readonly group: string;
  readonly held: HeldRules;
  readonly may: (right: WantedRight) => Promise<boolean>;
}

/** The rules that bindings give to users. */
interface HeldRules {
  heldBy(user: UserInfo, namespace: string): { readonly rules: readonly PolicyRule[]; readonly problem?: string };
  /** Undefined when there is no such role. */
  rulesOf(role: RoleRef, namespace: string): readonly PolicyRule[] | undefined;
}

/**
 * Refuses privilege escalation: a user who writes a role must hold its rules, a user who writes a binding must hold the
 * rules of its role, unless he may `escalate` or `bind`. Like kube-apiserver's storage for these kinds, it cannot be
 * switched off, and it looks at every change: labels, too, decide what a role gives, by aggregation.
 */
export function roleEscalation(parts: RoleEscalationParts): AdmissionPlugin {
  const checks: Readonly<Record<string, (attributes: AdmissionAttributes) => Promise<void>>> = {
    roles: (attributes) => checkRole(parts, attributes),
    clusterroles: (attributes) => checkRole(parts, attributes),
    rolebindings: (attributes) => checkBinding(parts, attributes),
    clusterrolebindings: (attributes) => checkBinding(parts, attributes),
  };
  return {
    name: 'RoleEscalation',
    async admit(attributes) {
      const { resource, request, operation } = attributes;
      if (resource.group !== parts.group || !Object.hasOwn(checks, resource.resource)) return;
      if (operation !== 'CREATE' && operation !== 'UPDATE') return;
      if (request.user.groups.includes(privilegedGroup)) return;
      if (onlyCleanupChanges(attributes)) return;
      await checks[resource.resource]!(attributes);
    },
  };
}

const everything: PolicyRule = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  resourceNames: [],
  nonResourceURLs: [],
};
const everyPath: PolicyRule = { ...everything, apiGroups: [], resources: [], nonResourceURLs: ['*'] };

async function checkRole(parts: RoleEscalationParts, attributes: AdmissionAttributes): Promise<void> {
  const { object, old, namespace, name, resource, request } = attributes;
  if (await parts.may({ ...resource, user: request.user, verb: 'escalate', namespace, name })) return;
  refuseMore(parts, attributes, asItems(object?.['rules']).map(policyRuleOf));
  // Selectors can gather any rules later, and taking them off keeps the rules that nobody granted: both ask for all.
  if (!aggregates(object) && !aggregates(old)) return;
  const { rules: held } = parts.held.heldBy(request.user, namespace);
  if (missingRules([everything, everyPath], held)?.length !== 0) {
    throw forbid(attributes, 'must have cluster-admin privileges to use the aggregationRule');
  }
}

const aggregates = (role: KubeObject | undefined): boolean =>
  asItems(asFields(role?.['aggregationRule'])['clusterRoleSelectors']).length > 0;

async function checkBinding(parts: RoleEscalationParts, attributes: AdmissionAttributes): Promise<void> {
  const { object, namespace, resource, request } = attributes;
  if (!object) return;
  const role = roleRefOf(object);
  const plural = role.kind === 'Role' ? 'roles' : 'clusterroles';
  const right = { user: request.user, verb: 'bind', group: parts.group, resource: plural, namespace, name: role.name };
  if (await parts.may(right)) return;
  const rules = parts.held.rulesOf(role, namespace);
  if (!rules) throw ApiError.notFound(resource, role.name);
  refuseMore(parts, attributes, rules);
}

function refuseMore(
  { held }: RoleEscalationParts,
  attributes: AdmissionAttributes,
  wanted: readonly PolicyRule[],
): void {
  const { user } = attributes.request;
  const { rules, problem } = held.heldBy(user, attributes.namespace);
  const missing = missingRules(wanted, rules);
  if (!missing) throw forbid(attributes, 'the rules are too many to be compared with those that the user holds');
  if (missing.length === 0) return;
  const who = `user ${goQuote(user.name)} (groups=${shownList(user.groups)})`;
  const lines = missing.map(shownRule).sort().join('\n');
  const also = problem === undefined ? '' : `; resolution errors: [${problem}]`;
  throw forbid(attributes, `${who} is attempting to grant RBAC permissions not currently held:\n${lines}${also}`);
}

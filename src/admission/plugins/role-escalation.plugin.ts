import type { ClusterRole, RoleBinding } from '../../catalog/types/rbac.v1.js';
import { ApiError } from '../../machinery/api-error.js';
import { goQuote } from '../../machinery/field-error.js';
import { missingRules, shownList, shownRule } from '../../machinery/policy-escalation.js';
import { policyRuleOf, roleRefOf, type PolicyRule } from '../../machinery/policy-rule.js';
import { privilegedGroup } from '../../machinery/user-info.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { onlyCleanupChanges } from '../cleanup-changes.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import { forbid } from '../refusal.js';

/**
 * Refuses privilege escalation: a user who writes a role must hold its rules, a user who writes a binding must hold the
 * rules of its role, unless he may `escalate` or `bind`. Like kube-apiserver's storage for these kinds, it cannot be
 * switched off. It checks every change, since labels, too, decide by aggregation what a role grants.
 */
export const roleEscalation = defineAdmissionPlugin({
  name: 'RoleEscalation',
  runs: 'always',
  make(dependencies) {
    const group = dependencies.naming.group('rbac.authorization');
    return {
      resources: [...checks.keys()].map((resource) => ({ group, resource })),
      async admit(attributes) {
        const { resource, request, operation } = attributes;
        const check = resource.group === group ? checks.get(resource.resource) : undefined;
        if (!check || (operation !== 'CREATE' && operation !== 'UPDATE')) return;
        if (request.user.groups.includes(privilegedGroup)) return;
        if (onlyCleanupChanges(attributes)) return;
        await check(dependencies, attributes);
      },
    };
  },
});

type Check = (dependencies: PluginDependencies, attributes: AdmissionAttributes) => Promise<void>;

const checks: ReadonlyMap<string, Check> = new Map([
  ['roles', checkRole],
  ['clusterroles', checkRole],
  ['rolebindings', checkBinding],
  ['clusterrolebindings', checkBinding],
]);

const everything: PolicyRule = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  resourceNames: [],
  nonResourceURLs: [],
};
const everyPath: PolicyRule = { ...everything, apiGroups: [], resources: [], nonResourceURLs: ['*'] };

async function checkRole(dependencies: PluginDependencies, attributes: AdmissionAttributes): Promise<void> {
  const { namespace, name, resource, request } = attributes;
  // Roles have no aggregationRule, and are otherwise alike.
  const role: ClusterRole | undefined = attributes.object;
  const old: ClusterRole | undefined = attributes.old;
  if (await dependencies.mayDo({ ...resource, user: request.user, verb: 'escalate', namespace, name })) return;
  refuseMissing(dependencies, attributes, (role?.rules ?? []).map(policyRuleOf));
  // Selectors may aggregate any rules later, and without the aggregationRule a role keeps the aggregated rules: both
  // require all permissions.
  if (!aggregates(role) && !aggregates(old)) return;
  const { rules: held } = dependencies.heldRules.heldBy(request.user, namespace);
  if (missingRules([everything, everyPath], held)?.length !== 0) {
    throw forbid(attributes, 'must have cluster-admin privileges to use the aggregationRule');
  }
}

const aggregates = (role: ClusterRole | undefined): boolean =>
  (role?.aggregationRule?.clusterRoleSelectors ?? []).length > 0;

async function checkBinding(dependencies: PluginDependencies, attributes: AdmissionAttributes): Promise<void> {
  const { object, namespace, resource, request } = attributes;
  if (!object) return;
  // ClusterRoleBindings have the same fields.
  const binding: RoleBinding = object;
  const role = roleRefOf(binding);
  const plural = role.kind === 'Role' ? 'roles' : 'clusterroles';
  const { group } = resource;
  if (
    await dependencies.mayDo({ user: request.user, verb: 'bind', group, resource: plural, namespace, name: role.name })
  )
    return;
  const rules = dependencies.heldRules.rulesOf(role, namespace);
  if (!rules) throw ApiError.notFound(resource, role.name);
  refuseMissing(dependencies, attributes, rules);
}

/** Refuses the request if the user does not hold all of the rules. */
function refuseMissing(
  { heldRules }: PluginDependencies,
  attributes: AdmissionAttributes,
  wanted: readonly PolicyRule[],
): void {
  const { user } = attributes.request;
  const { rules, problem } = heldRules.heldBy(user, attributes.namespace);
  const missing = missingRules(wanted, rules);
  if (!missing) throw forbid(attributes, 'the rules are too many to be compared with those that the user holds');
  if (missing.length === 0) return;
  const who = `user ${goQuote(user.name)} (groups=${shownList(user.groups)})`;
  const lines = missing.map(shownRule).sort().join('\n');
  const also = problem === undefined ? '' : `; resolution errors: [${problem}]`;
  throw forbid(attributes, `${who} is attempting to grant RBAC permissions not currently held:\n${lines}${also}`);
}

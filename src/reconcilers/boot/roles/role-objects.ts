import type { PolicyRule, Subject } from '../../../catalog/types/rbac.v1.js';
import { deepFreeze } from '../../../config/deep-freeze.js';
import type { NamingProfile } from '../../../config/naming-profile.js';
import { apiVersionOf } from '../../../machinery/gvk.js';
import { rbacVersion } from '../../../modules/rbac/rbac.resources.js';
import { aggregateRulesNow, aggregatesRules, withRules } from '../../role-aggregation/decide.js';
import type { RbacObject } from './add-missing.js';
import type { BootRole } from './boot-role.js';
import { componentRoles } from './component-roles.js';
import { controllerRoles } from './controller-roles.js';
import { namespacedRoles } from './namespaced-roles.js';
import { roleNameOf, ruleOf } from './rule-text.js';
import { userRoles } from './user-roles.js';

interface RoleObjects {
  readonly clusterroles: readonly RbacObject[];
  readonly clusterrolebindings: readonly RbacObject[];
  readonly roles: readonly RbacObject[];
  readonly rolebindings: readonly RbacObject[];
}

/** With the value `false`, a start does not change the object. */
export const autoupdateAnnotation = (naming: NamingProfile): string => naming.label('autoupdate', 'rbac.authorization');

const known = new WeakMap<NamingProfile, RoleObjects>();

/** Returns the initial RBAC roles and bindings. They are frozen: all servers of the process share them. */
export function roleObjects(naming: NamingProfile): RoleObjects {
  let objects = known.get(naming);
  if (!objects) known.set(naming, (objects = deepFreeze(computeObjects(naming))));
  return objects;
}

function computeObjects(naming: NamingProfile): RoleObjects {
  const factory = new RoleFactory(naming);
  const clusterRoles = [
    ...Object.entries(userRoles),
    ...Object.entries(componentRoles),
    ...Object.entries(controllerRoles).map(([account, rules]): [string, BootRole] => [
      `system:controller:${account}`,
      { rules, subjects: [`ServiceAccount ${account}`] },
    ]),
  ].map(([text, role]) => ({ name: roleNameOf(text, naming), role }));
  return {
    clusterroles: withAggregatedRules(clusterRoles.map(({ name, role }) => factory.clusterRole(name, role))),
    clusterrolebindings: clusterRoles.flatMap(({ name, role: { subjects } }) =>
      subjects ? factory.binding('ClusterRole', { name }, name, subjects) : [],
    ),
    roles: namespacedRoles.map(({ namespace, name, rules }) =>
      factory.role('Role', { name, namespace: naming.systemNamespace(namespace) }, rules),
    ),
    rolebindings: namespacedRoles.map(({ namespace, name, binding = name, subjects }) =>
      factory.binding('Role', { name: binding, namespace: naming.systemNamespace(namespace) }, name, subjects),
    ),
  };
}

/** Sets the rules of aggregated roles. Repeats until nothing changes, since a role may aggregate an aggregated role. */
function withAggregatedRules(roles: readonly RbacObject[]): readonly RbacObject[] {
  const sources = roles.map((role) => ({
    attributes: { name: role.metadata.name!, labels: role.metadata.labels },
    parse: () => role,
  }));
  const next = roles.map((role) => (aggregatesRules(role) ? withRules(role, aggregateRulesNow(role, sources)) : role));
  return next.some((role, at) => role !== roles[at]) ? withAggregatedRules(next) : roles;
}

interface Names {
  readonly name: string;
  readonly namespace?: string;
}

class RoleFactory {
  private readonly group: string;
  private readonly apiVersion: string;

  constructor(private readonly naming: NamingProfile) {
    const { group, version } = rbacVersion(naming);
    this.group = group;
    this.apiVersion = apiVersionOf(group, version);
  }

  clusterRole(name: string, { rules = [], aggregates, aggregatedTo }: BootRole): RbacObject {
    const role = this.role('ClusterRole', { name }, rules);
    const label = (level: string) => ({ [`${this.group}/aggregate-to-${level}`]: 'true' });
    const { metadata } = role;
    return {
      ...role,
      metadata: { ...metadata, labels: { ...metadata.labels, ...(aggregatedTo && label(aggregatedTo)) } },
      ...(aggregates && { aggregationRule: { clusterRoleSelectors: [{ matchLabels: label(aggregates) }] } }),
    };
  }

  role(kind: 'Role' | 'ClusterRole', names: Names, rules: readonly string[]): RbacObject {
    const parsed: PolicyRule[] = rules.map((rule) => ruleOf(rule, this.naming));
    return { ...this.object(kind, names), rules: parsed };
  }

  binding(kind: 'Role' | 'ClusterRole', names: Names, role: string, subjects: readonly string[]): RbacObject {
    return {
      ...this.object(`${kind}Binding`, names),
      ...(subjects.length > 0 && { subjects: subjects.map((subject) => this.subject(subject)) }),
      roleRef: { apiGroup: this.group, kind, name: role },
    };
  }

  private object(kind: string, names: Names): RbacObject {
    return {
      kind,
      apiVersion: this.apiVersion,
      metadata: {
        ...names,
        labels: { [this.naming.label('bootstrapping')]: 'rbac-defaults' },
        annotations: { [autoupdateAnnotation(this.naming)]: 'true' },
      },
    };
  }

  private subject(text: string): Subject {
    const [kind, name] = text.split(' ');
    return kind === 'ServiceAccount'
      ? { kind, name, namespace: this.naming.systemNamespace('system') }
      : { kind, apiGroup: this.group, name };
  }
}

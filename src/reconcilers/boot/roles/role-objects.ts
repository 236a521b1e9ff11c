import type { NamingProfile } from '../../../config/naming-profile.js';
import type { Fields } from '../../../machinery/fields.js';
import { apiVersionOf } from '../../../machinery/gvk.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { rbacVersion } from '../../../modules/rbac/rbac.resources.js';
import { gatherRulesNow, gathersRules, withRules } from '../../role-aggregation/decide.js';
import type { BootRole } from './boot-role.js';
import { componentRoles } from './component-roles.js';
import { controllerRoles } from './controller-roles.js';
import { namespacedRoles } from './namespaced-roles.js';
import { roleNameOf, ruleOf } from './rule-text.js';
import { userRoles } from './user-roles.js';

export interface RoleObjects {
  readonly clusterroles: readonly KubeObject[];
  readonly clusterrolebindings: readonly KubeObject[];
  readonly roles: readonly KubeObject[];
  readonly rolebindings: readonly KubeObject[];
}

/** Whoever changes one of these objects and says `false` here keeps it as it is. */
export const autoupdateAnnotation = (naming: NamingProfile): string => naming.label('autoupdate', 'rbac.authorization');

/** The roles that every cluster begins with, and who is given them. */
export function roleObjects(naming: NamingProfile): RoleObjects {
  const made = new Maker(naming);
  const clusterRoles = [
    ...Object.entries(userRoles),
    ...Object.entries(componentRoles),
    ...Object.entries(controllerRoles).map(([account, rules]): [string, BootRole] => [
      `system:controller:${account}`,
      { rules, subjects: [`ServiceAccount ${account}`] },
    ]),
  ].map(([text, role]) => ({ name: roleNameOf(text, naming), role }));
  return {
    clusterroles: gathered(clusterRoles.map(({ name, role }) => made.clusterRole(name, role))),
    clusterrolebindings: clusterRoles.flatMap(({ name, role: { subjects } }) =>
      subjects ? made.binding('ClusterRole', { name }, name, subjects) : [],
    ),
    roles: namespacedRoles.map(({ namespace, name, rules }) =>
      made.role('Role', { name, namespace: naming.systemNamespace(namespace) }, rules),
    ),
    rolebindings: namespacedRoles.map(({ namespace, name, binding = name, subjects }) =>
      made.binding('Role', { name: binding, namespace: naming.systemNamespace(namespace) }, name, subjects),
    ),
  };
}

/** Roles that are made of others have their rules from the start: a role may gather what another one has gathered. */
function gathered(roles: readonly KubeObject[]): readonly KubeObject[] {
  const lenders = roles.map((role) => ({
    attributes: { name: role.metadata.name!, labels: role.metadata.labels },
    parse: () => role,
  }));
  const next = roles.map((role) => (gathersRules(role) ? withRules(role, gatherRulesNow(role, lenders)) : role));
  return next.some((role, at) => role !== roles[at]) ? gathered(next) : roles;
}

interface Place {
  readonly name: string;
  readonly namespace?: string;
}

class Maker {
  private readonly group: string;
  private readonly apiVersion: string;

  constructor(private readonly naming: NamingProfile) {
    const { group, version } = rbacVersion(naming);
    this.group = group;
    this.apiVersion = apiVersionOf(group, version);
  }

  clusterRole(name: string, { rules = [], gathers, joins }: BootRole): KubeObject {
    const role = this.role('ClusterRole', { name }, rules);
    const label = (level: string) => ({ [`${this.group}/aggregate-to-${level}`]: 'true' });
    const { metadata } = role;
    return {
      ...role,
      metadata: { ...metadata, labels: { ...metadata.labels, ...(joins && label(joins)) } },
      ...(gathers && { aggregationRule: { clusterRoleSelectors: [{ matchLabels: label(gathers) }] } }),
    };
  }

  role(kind: 'Role' | 'ClusterRole', place: Place, rules: readonly string[]): KubeObject {
    return { ...this.object(kind, place), rules: rules.map((rule) => ruleOf(rule, this.naming)) };
  }

  binding(kind: 'Role' | 'ClusterRole', place: Place, role: string, subjects: readonly string[]): KubeObject {
    return {
      ...this.object(`${kind}Binding`, place),
      ...(subjects.length > 0 && { subjects: subjects.map((subject) => this.subject(subject)) }),
      roleRef: { apiGroup: this.group, kind, name: role },
    };
  }

  private object(kind: string, place: Place): KubeObject {
    return {
      kind,
      apiVersion: this.apiVersion,
      metadata: {
        ...place,
        labels: { [this.naming.label('bootstrapping')]: 'rbac-defaults' },
        annotations: { [autoupdateAnnotation(this.naming)]: 'true' },
      },
    };
  }

  private subject(text: string): Fields {
    const [kind, name] = text.split(' ');
    return kind === 'ServiceAccount'
      ? { kind, name, namespace: this.naming.systemNamespace('system') }
      : { kind, apiGroup: this.group, name };
  }
}

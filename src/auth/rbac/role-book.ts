import type { ClusterRole, RoleBinding, Subject } from '../../catalog/types/rbac.v1.js';
import type { CacheEvent } from '../../cache/cache-event.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import { goQuote } from '../../machinery/field-error.js';
import { policyRuleOf, roleRefOf, type PolicyRule, type RoleRef } from '../../machinery/policy-rule.js';
import { serviceAccountUserName, type UserInfo } from '../../machinery/user-info.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { ResourceStore } from '../../registry/resource-store.js';

/** A role that a binding grants to a subject. */
export interface Grant {
  /** `RoleBinding "b/default" of Role "r" to User "u"` */
  readonly description: string;
  /** Name of the binding. */
  readonly binding: string;
  readonly role: RoleRef;
  /** Namespace of the binding; '' for a ClusterRoleBinding. */
  readonly namespace: string;
}

const plurals = ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings'] as const;
type Plural = (typeof plurals)[number];

/**
 * Index of roles by name and of bindings by subject, updated from the watch caches. Every request of a user outside
 * system:masters reads it.
 */
export class RoleBook {
  private readonly rules = new Map<string, readonly PolicyRule[]>();
  /** Grants by namespace ('' for ClusterRoleBindings), then by subject, then by name of the binding. */
  private readonly grants = new Map<string, Map<string, Map<string, Grant>>>();
  /** Subjects of each binding, for its removal from the index. */
  private readonly subjectsOf = new Map<string, readonly string[]>();
  private readonly followed = new Map<ResourceStore, () => void>();
  private generation = -1;

  constructor(
    private readonly registry: ResourceRegistry,
    private readonly group: string,
  ) {}

  /** Yields the grants of a user in a namespace and cluster-wide; with '' only cluster-wide ones. */
  *grantsOf(user: UserInfo, namespace: string): Generator<Grant, void> {
    this.follow();
    const subjects = [userKey(user.name), ...user.groups.map(groupKey)];
    for (const bindingNamespace of namespace === '' ? [''] : ['', namespace]) {
      const bySubject = this.grants.get(bindingNamespace);
      if (!bySubject) continue;
      for (const subject of subjects) yield* bySubject.get(subject)?.values() ?? [];
    }
  }

  /** Returns the rules of a role, undefined if it does not exist. */
  rulesOf({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    this.follow();
    return this.rules.get(kind === 'ClusterRole' ? roleKey('', name) : roleKey(namespace, name));
  }

  /** Subscribes to the caches on first use, since the served resources are not known before. */
  private follow(): void {
    if (this.generation === this.registry.generation) return;
    this.generation = this.registry.generation;
    for (const plural of plurals) {
      const served = this.registry.find(this.group, 'v1', plural);
      if (served?.type !== 'stored' || this.followed.has(served.store)) continue;
      const { store } = served;
      this.followed.set(
        store,
        store.cache.observe({
          changed: ({ current, previous }: CacheEvent) => this.update(plural, (current ?? previous)!, current),
          reset: () => {
            this.forgetAll(plural);
            for (const entry of store.cache.snapshot().range(store.scopeOf(''))) this.update(plural, entry, entry);
          },
        }),
      );
    }
  }

  private update(plural: Plural, { attributes }: EncodedObject, current: EncodedObject | undefined): void {
    const { namespace, name } = attributes;
    const object = current && !current.corruption ? current.parse() : undefined;
    if (plural === 'roles' || plural === 'clusterroles') {
      const role: ClusterRole | undefined = object;
      if (role) this.rules.set(roleKey(namespace, name), (role.rules ?? []).map(policyRuleOf));
      else this.rules.delete(roleKey(namespace, name));
      return;
    }
    this.removeBinding(namespace, name);
    if (object) this.addBinding(namespace, name, object);
  }

  private forgetAll(plural: Plural): void {
    const isCluster = plural === 'clusterroles' || plural === 'clusterrolebindings';
    const isOf = (key: string) => key.startsWith('/') === isCluster;
    if (plural === 'roles' || plural === 'clusterroles') {
      for (const key of this.rules.keys()) if (isOf(key)) this.rules.delete(key);
      return;
    }
    for (const key of this.subjectsOf.keys()) if (isOf(key)) this.subjectsOf.delete(key);
    for (const namespace of this.grants.keys()) if ((namespace === '') === isCluster) this.grants.delete(namespace);
  }

  private addBinding(namespace: string, name: string, binding: RoleBinding): void {
    const role = roleRefOf(binding);
    const bySubject = this.grants.get(namespace) ?? new Map<string, Map<string, Grant>>();
    this.grants.set(namespace, bySubject);
    const subjects = (binding.subjects ?? []).map((subject) => ({ subject, key: subjectKey(subject, namespace) }));
    for (const { subject, key } of subjects) {
      if (key === undefined) continue;
      const shownBinding =
        namespace === '' ? `ClusterRoleBinding ${goQuote(name)}` : `RoleBinding ${goQuote(`${name}/${namespace}`)}`;
      const description = `${shownBinding} of ${role.kind} ${goQuote(role.name)} to ${shownSubject(subject, namespace)}`;
      const found = bySubject.get(key) ?? new Map<string, Grant>();
      if (!found.has(name)) found.set(name, { description, binding: name, role, namespace });
      bySubject.set(key, found);
    }
    this.subjectsOf.set(
      roleKey(namespace, name),
      subjects.flatMap(({ key }) => key ?? []),
    );
  }

  private removeBinding(namespace: string, name: string): void {
    const key = roleKey(namespace, name);
    const bySubject = this.grants.get(namespace);
    for (const subject of this.subjectsOf.get(key) ?? []) {
      const found = bySubject?.get(subject);
      found?.delete(name);
      if (found?.size === 0) bySubject!.delete(subject);
    }
    if (bySubject?.size === 0) this.grants.delete(namespace);
    this.subjectsOf.delete(key);
  }
}

const roleKey = (namespace: string, name: string) => `${namespace}/${name}`;
const userKey = (name: string) => `user ${name}`;
const groupKey = (name: string) => `group ${name}`;

/** Returns the key of a subject. A ServiceAccount is keyed by its user name; its default namespace is the binding's. */
function subjectKey(subject: Subject, namespace: string): string | undefined {
  const { kind, name = '' } = subject;
  switch (kind) {
    case 'User':
      return userKey(name);
    case 'Group':
      return groupKey(name);
    case 'ServiceAccount': {
      const accountNamespace = subject.namespace || namespace;
      return accountNamespace === '' ? undefined : userKey(serviceAccountUserName(accountNamespace, name));
    }
    default:
      return undefined;
  }
}

function shownSubject(subject: Subject, namespace: string): string {
  const { kind = '', name = '' } = subject;
  if (kind !== 'ServiceAccount') return `${kind} ${goQuote(name)}`;
  return `ServiceAccount ${goQuote(`${name}/${subject.namespace || namespace}`)}`;
}

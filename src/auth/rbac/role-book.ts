import type { CacheEvent } from '../../cache/cache-event.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import { goQuote } from '../../machinery/field-error.js';
import { asItems, asText, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { policyRuleOf, roleRefOf, type PolicyRule, type RoleRef } from '../../machinery/policy-rule.js';
import { serviceAccountUserName, type UserInfo } from '../../machinery/user-info.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { ResourceStore } from '../../registry/resource-store.js';

/** A role that somebody has been given. */
export interface Grant {
  /** `RoleBinding "b/default" of Role "r" to User "u"` */
  readonly description: string;
  readonly role: RoleRef;
  /** '' where it holds everywhere. */
  readonly namespace: string;
}

const plurals = ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings'] as const;
type Plural = (typeof plurals)[number];

/**
 * Who has been given which rules: roles by their names and bindings by their subjects, kept ready as the caches of this
 * server hold them, since every request of somebody who is not privileged asks.
 */
export class RoleBook {
  private readonly rules = new Map<string, readonly PolicyRule[]>();
  /** By namespace ('' for everywhere), then by subject. */
  private readonly grants = new Map<string, Map<string, Map<string, Grant>>>();
  /** The subjects of each binding, to be taken out again. */
  private readonly subjectsOf = new Map<string, readonly string[]>();
  private readonly followed = new Map<ResourceStore, () => void>();
  private generation = -1;

  constructor(
    private readonly registry: ResourceRegistry,
    private readonly group: string,
  ) {}

  /** Everything a user was given that holds in a namespace, or everywhere with ''. */
  *grantsOf(user: UserInfo, namespace: string): Generator<Grant, void> {
    this.follow();
    const subjects = [userKey(user.name), ...user.groups.map(groupKey)];
    for (const place of namespace === '' ? [''] : ['', namespace]) {
      const bySubject = this.grants.get(place);
      if (!bySubject) continue;
      for (const subject of subjects) yield* bySubject.get(subject)?.values() ?? [];
    }
  }

  /** Undefined when there is no such role. */
  rulesOf({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    this.follow();
    return this.rules.get(kind === 'ClusterRole' ? roleKey('', name) : roleKey(namespace, name));
  }

  /** Begins with the first question: what is served is known by then. --runtime-config may change it only at a start. */
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
          changed: ({ current, previous }: CacheEvent) => this.note(plural, (current ?? previous)!, current),
          reset: () => {
            this.forgetAll(plural);
            for (const entry of store.cache.snapshot().range(store.scopeOf(''))) this.note(plural, entry, entry);
          },
        }),
      );
    }
  }

  private note(plural: Plural, { attributes }: EncodedObject, current: EncodedObject | undefined): void {
    const { namespace, name } = attributes;
    const object = current && !current.corruption ? current.parse() : undefined;
    if (plural === 'roles' || plural === 'clusterroles') {
      if (object) this.rules.set(roleKey(namespace, name), asItems(object['rules']).map(policyRuleOf));
      else this.rules.delete(roleKey(namespace, name));
      return;
    }
    this.takeOut(namespace, name);
    if (object) this.putIn(namespace, name, object);
  }

  private forgetAll(plural: Plural): void {
    const isCluster = plural === 'clusterroles' || plural === 'clusterrolebindings';
    const isOf = (key: string) => key.startsWith('/') === isCluster;
    if (plural === 'roles' || plural === 'clusterroles') {
      for (const key of this.rules.keys()) if (isOf(key)) this.rules.delete(key);
      return;
    }
    for (const key of this.subjectsOf.keys()) if (isOf(key)) this.subjectsOf.delete(key);
    for (const place of this.grants.keys()) if ((place === '') === isCluster) this.grants.delete(place);
  }

  private putIn(namespace: string, name: string, binding: KubeObject): void {
    const role = roleRefOf(binding);
    const bySubject = this.grants.get(namespace) ?? new Map<string, Map<string, Grant>>();
    this.grants.set(namespace, bySubject);
    const subjects = asItems(binding['subjects']).map((subject) => ({ subject, key: subjectKey(subject, namespace) }));
    for (const { subject, key } of subjects) {
      if (key === undefined) continue;
      const what =
        namespace === '' ? `ClusterRoleBinding ${goQuote(name)}` : `RoleBinding ${goQuote(`${name}/${namespace}`)}`;
      const description = `${what} of ${role.kind} ${goQuote(role.name)} to ${shownSubject(subject, namespace)}`;
      const found = bySubject.get(key) ?? new Map<string, Grant>();
      if (!found.has(name)) found.set(name, { description, role, namespace });
      bySubject.set(key, found);
    }
    this.subjectsOf.set(
      roleKey(namespace, name),
      subjects.flatMap(({ key }) => key ?? []),
    );
  }

  private takeOut(namespace: string, name: string): void {
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

/** An account is the user that it comes in as. In a binding of a namespace, it may leave out that namespace. */
function subjectKey(subject: Fields, namespace: string): string | undefined {
  const name = asText(subject['name']);
  switch (subject['kind']) {
    case 'User':
      return userKey(name);
    case 'Group':
      return groupKey(name);
    case 'ServiceAccount': {
      const place = asText(subject['namespace']) || namespace;
      return place === '' ? undefined : userKey(serviceAccountUserName(place, name));
    }
    default:
      return undefined;
  }
}

function shownSubject(subject: Fields, namespace: string): string {
  const name = asText(subject['name']);
  if (subject['kind'] !== 'ServiceAccount') return `${asText(subject['kind'])} ${goQuote(name)}`;
  return `ServiceAccount ${goQuote(`${name}/${asText(subject['namespace']) || namespace}`)}`;
}

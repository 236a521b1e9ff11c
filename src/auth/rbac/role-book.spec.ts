import { registryOf } from '../../../test/harness/shell.js';
import { encodeStored } from '../../codec/stored-object.js';
import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Revision } from '../../machinery/revision.js';
import { rbacResources, rbacVersion } from '../../modules/rbac/rbac.resources.js';
import { RoleBook } from './role-book.js';
import { deleteEvent, putEvent } from '../../storage/store-event.js';

const naming = namingProfile('kubernetes');
const { group, version } = rbacVersion(naming);
const ann = { name: 'ann', uid: '', groups: ['staff'], extra: {} };

type Look = { readonly rules?: object[]; readonly roleRef?: object; readonly subjects?: object[] | null };
const binding = (role: string, ...subjects: object[]): Look => ({
  roleRef: { kind: 'ClusterRole', name: role },
  subjects,
});
const user = { kind: 'User', name: 'ann' };
const staff = { kind: 'Group', name: 'staff' };

/** A role book with caches that tests change as the feed does. */
class World {
  readonly registry = registryOf(rbacResources(naming));
  readonly book = new RoleBook(this.registry, group);
  private revision = 1;

  constructor() {
    for (const plural of ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings']) this.load(plural, {});
  }

  put(plural: string, path: string, look: Look): void {
    this.store(plural).cache.apply(putEvent(this.item(plural, path, look)), 0);
  }

  remove(plural: string, path: string): void {
    const { key } = this.item(plural, path, {});
    this.store(plural).cache.apply(deleteEvent(key, this.next()), 0);
  }

  /** Reloads the cache, as after an interruption of the feed. */
  load(plural: string, looks: Readonly<Record<string, Look>>): void {
    const { cache } = this.store(plural);
    const items = Object.entries(looks).map(([path, look]) => cache.decode(this.item(plural, path, look)));
    cache.reset(items, this.next());
  }

  grants(namespace: string): string[] {
    return [...this.book.grantsOf(ann, namespace)].map(({ description }) => description);
  }

  private item(plural: string, path: string, look: Look) {
    const [namespace = '', name = ''] = path.split('/');
    const { kind } = this.registry.require(group, version, plural).definition;
    const metadata = { name, ...(namespace && { namespace }) };
    const object = { apiVersion: `${group}/${version}`, kind, metadata, ...look } as unknown as KubeObject;
    const modRevision = this.next();
    const value = encodeStored(object);
    return { key: this.store(plural).keyOf(namespace, name), value, createRevision: modRevision, modRevision };
  }

  private next = () => ++this.revision as Revision;

  private store(plural: string) {
    return this.registry.require(group, version, plural).store;
  }
}

describe('RoleBook', () => {
  it('returns the grants of a namespace and cluster-wide ones', () => {
    const world = new World();
    world.put('rolebindings', 'a/one', binding('view', user));
    world.put('clusterrolebindings', '/all', binding('edit', staff));
    expect(world.grants('a')).toEqual([
      'ClusterRoleBinding "all" of ClusterRole "edit" to Group "staff"',
      'RoleBinding "one/a" of ClusterRole "view" to User "ann"',
    ]);
    expect(world.grants('b')).toHaveLength(1);
    expect(world.grants('')).toHaveLength(1);
  });

  it('removes grants of changed and deleted bindings', () => {
    const world = new World();
    world.put('rolebindings', 'a/one', binding('view', user, user, staff));
    expect(world.grants('a')).toHaveLength(2);
    world.put('rolebindings', 'a/one', binding('view', { kind: 'User', name: 'bob' }));
    expect(world.grants('a')).toEqual([]);
    world.put('rolebindings', 'a/one', { ...binding('edit'), subjects: null });
    expect(world.grants('a')).toEqual([]);
    world.put('rolebindings', 'a/one', binding('edit', user));
    world.remove('rolebindings', 'a/one');
    expect(world.grants('a')).toEqual([]);
  });

  it('removes only objects that are missing after a cache was reloaded', () => {
    const world = new World();
    world.put('rolebindings', 'a/one', binding('view', user));
    world.put('rolebindings', 'b/two', binding('view', user));
    world.put('clusterrolebindings', '/all', binding('view', user));
    world.put('clusterroles', '/view', { rules: [{ verbs: ['get'] }] });
    world.put('roles', 'a/view', { rules: [{ verbs: ['list'] }] });
    expect(world.grants('a')).toHaveLength(2);
    world.load('rolebindings', { 'b/two': binding('view', user) });
    expect([world.grants('a').length, world.grants('b').length]).toEqual([1, 2]);
    world.load('clusterrolebindings', {});
    expect([world.grants('a').length, world.grants('b').length]).toEqual([0, 1]);
    world.load('roles', {});
    expect(world.book.rulesOf({ kind: 'Role', name: 'view' }, 'a')).toBeUndefined();
    expect(world.book.rulesOf({ kind: 'ClusterRole', name: 'view' }, 'a')).toHaveLength(1);
  });

  it('a ServiceAccount subject without namespace belongs to the namespace of the binding', () => {
    const world = new World();
    const account = { ...ann, name: 'system:serviceaccount:a:robot' };
    world.put('rolebindings', 'a/one', binding('view', { kind: 'ServiceAccount', name: 'robot' }));
    world.put('clusterrolebindings', '/all', binding('view', { kind: 'ServiceAccount', name: 'robot' }));
    expect([...world.book.grantsOf(account, 'a')]).toHaveLength(1);
  });
});

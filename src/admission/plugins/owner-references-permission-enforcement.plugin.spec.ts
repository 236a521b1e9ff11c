import { admitted, hooksOf, type WriteGiven } from '../../../test/harness/admission.js';
import type { Permission } from '../plugin-dependencies.js';
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.plugin.js';

const kinds = [
  { apiVersion: 'v1', kind: 'ConfigMap', group: '', resource: 'configmaps', namespaced: true },
  { apiVersion: 'v1', kind: 'Node', group: '', resource: 'nodes', namespaced: false },
  { apiVersion: 'apps/v1', kind: 'Two', group: 'apps', resource: 'ones', namespaced: true },
  { apiVersion: 'apps/v1', kind: 'Two', group: 'apps', resource: 'others', namespaced: true },
];
const shown = ({ verb, group, resource, subresource, namespace, name }: Permission) =>
  [verb, group, subresource ? `${resource}/${subresource}` : resource, namespace, name].join(' ');

const plugin = (permissions: readonly string[]) =>
  hooksOf(ownerReferencesPermissionEnforcement, {
    mayDo: (permission) => Promise.resolve(permissions.includes(shown(permission))),
    resourcesOfKind: ({ group, version, kind }) =>
      kinds
        .filter((one) => one.apiVersion === (group ? `${group}/${version}` : version) && one.kind === kind)
        .map(({ group, resource, namespaced }) => ({ group, resource, namespaced })),
  });

const owner = (more: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', ...more });
const blocking = (more: object = {}) => owner({ blockOwnerDeletion: true, ...more });
// eslint-disable-next-line @typescript-eslint/no-explicit-any
const owned = (...ownerReferences: any[]) => ({ metadata: { name: 'p', ownerReferences } });

const mayDelete = 'delete  pods ns p';
const mayFinalize = 'update  configmaps/finalizers ns o';
const cannotDelete = "cannot set an ownerRef on a resource you can't delete: , <nil>";
const cannotBlock =
  "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>";
const noKind = (apiVersion: string, kind: string, why = `no matches for kind "${kind}" in version "${apiVersion}"`) =>
  `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${why}`;

type Row = readonly [
  name: string,
  old: WriteGiven['old'],
  object: WriteGiven['object'] & object,
  permissions: readonly string[],
  want: string | undefined,
];

// prettier-ignore
it.each<Row>([
  ['creating with owners', undefined, owned(owner()), [], undefined],
  ['no change', owned(blocking()), owned(blocking()), [], undefined],
  ['empty owners for none', { metadata: { name: 'p' } }, owned(), [], undefined],
  ['adding an owner', owned(), owned(owner()), [], cannotDelete],
  ['adding an owner, with delete', owned(), owned(owner()), [mayDelete], undefined],
  ['adding an owner, with delete elsewhere', owned(), owned(owner()), ['delete  pods other p', 'delete  pods ns q'], cannotDelete],
  ['removing an owner', owned(owner()), owned(), [], cannotDelete],
  ['another order of owners', owned(owner(), owner({ uid: 'v' })), owned(owner({ uid: 'v' }), owner()), [], cannotDelete],
  ['creating with a blocking owner', undefined, owned(blocking()), [], cannotBlock],
  ['creating with a blocking owner, with its finalizers', undefined, owned(blocking()), [mayFinalize], undefined],
  ['creating with a blocking owner, with all finalizers', undefined, owned(blocking()), ['update * */finalizers  *'], undefined],
  ['creating with a blocking owner, with update alone', undefined, owned(blocking()), ['update  configmaps ns o'], cannotBlock],
  ['a blocking owner in no namespace', undefined, owned(blocking({ kind: 'Node' })), ['update  nodes/finalizers  o'], undefined],
  ['making an owner blocking', owned(owner()), owned(blocking()), [mayDelete], cannotBlock],
  ['making an owner blocking, with both', owned(owner()), owned(blocking()), [mayDelete, mayFinalize], undefined],
  ['a blocking owner beside a known one', owned(blocking()), owned(blocking(), blocking({ uid: 'v', name: 'x' })), [mayDelete, mayFinalize], cannotBlock],
  ['a known blocking owner beside a new one', owned(blocking()), owned(blocking(), owner({ uid: 'v' })), [mayDelete], undefined],
  ['unblocking', owned(blocking()), owned(owner()), [mayDelete], undefined],
  ['a kind of two resources', undefined, owned(blocking({ apiVersion: 'apps/v1', kind: 'Two' })), ['update apps ones/finalizers ns o'], cannotBlock],
  ['an unknown kind', undefined, owned(blocking({ kind: 'Nil' })), [], noKind('v1', 'Nil')],
  ['an unknown kind that does not block', undefined, owned(owner({ kind: 'Nil' })), [], undefined],
  ['an unreadable version', undefined, owned(blocking({ apiVersion: 'a/b/c' })), [], noKind('a/b/c', 'ConfigMap', 'unexpected GroupVersion string: a/b/c')],
])('%s', async (_name, old, object, permissions, want) => {
  const write = { object, ...(old && { old }) };
  expect((await admitted(plugin(permissions), write)).refused).toBe(want);
});

it.each([
  ['/pods/status', undefined],
  ['/pods/ephemeralcontainers', cannotDelete],
  ['apps/deployments/status', cannotDelete],
])('an owner that is added through %s', async (of, want) => {
  expect((await admitted(plugin([]), { of, object: owned(owner()), old: owned() })).refused).toBe(want);
});

it('a review without metadata is no object with owners', async () => {
  const attributes = { operation: 'CREATE', object: { kind: 'SubjectAccessReview', apiVersion: 'v1' } };
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  await expect(plugin([]).validate!({ resource: {}, ...attributes } as any)).resolves.toBeUndefined();
});

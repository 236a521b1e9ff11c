import { goQuote } from '../../machinery/field-error.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import type { KubeObject, OwnerReference } from '../../machinery/kube-object.js';
import { semanticEqual } from '../../machinery/semantic-equal.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import { forbid } from '../refusal.js';

/**
 * Refuses changes of metadata.ownerReferences by users who may not delete the object, since owners decide when it is
 * deleted, and refuses blockOwnerDeletion by users who may not update the `finalizers` subresource of the owner.
 * Creating an object with owners is not a change.
 */
export const ownerReferencesPermissionEnforcement = defineAdmissionPlugin({
  name: 'OwnerReferencesPermissionEnforcement',
  runs: 'if enabled',
  make: (dependencies) => ({
    actsOnUnchanged: () => false,
    async validate(attributes) {
      const { operation, object, old, resource, subresource, namespace, name, request } = attributes;
      if (!object || (operation !== 'CREATE' && operation !== 'UPDATE')) return;
      // Status updates of Pods cannot change owners; old kubelets send broken ones.
      if (resource.group === '' && resource.resource === 'pods' && subresource === 'status') return;
      if (semanticEqual(ownersOf(object), ownersOf(old))) return;
      const permission = { user: request.user, ...resource, subresource, namespace, name };
      if (operation === 'UPDATE' && !(await dependencies.mayDo({ ...permission, verb: 'delete' }))) {
        throw forbid(attributes, "cannot set an ownerRef on a resource you can't delete: , <nil>");
      }
      await checkBlockedOwners(dependencies, attributes, newlyBlocking(ownersOf(object), ownersOf(old)));
    },
  }),
});

// Review kinds have no metadata at all.
const ownersOf = (object: Partial<KubeObject> | undefined): readonly OwnerReference[] =>
  object?.metadata?.ownerReferences ?? [];

/** Owners with blockOwnerDeletion that the old object does not have, or has without it. */
function newlyBlocking(owners: readonly OwnerReference[], before: readonly OwnerReference[]): OwnerReference[] {
  const blocked = new Map(before.map(({ uid, blockOwnerDeletion }) => [uid, blockOwnerDeletion === true]));
  return owners.filter(({ uid, blockOwnerDeletion }) => blockOwnerDeletion === true && blocked.get(uid) !== true);
}

async function checkBlockedOwners(
  { mayDo, resourcesOfKind }: PluginDependencies,
  attributes: AdmissionAttributes,
  owners: readonly OwnerReference[],
): Promise<void> {
  if (owners.length === 0) return;
  const permission = { user: attributes.request.user, verb: 'update', subresource: 'finalizers' };
  if (await mayDo({ ...permission, group: '*', resource: '*', name: '*' })) return;
  for (const { apiVersion, kind, name } of owners) {
    const parsed = parseApiVersion(apiVersion);
    const resources = parsed ? resourcesOfKind({ ...parsed, kind }) : [];
    if (resources.length === 0) {
      const problem = parsed
        ? `no matches for kind ${goQuote(kind)} in version ${goQuote(apiVersion)}`
        : `unexpected GroupVersion string: ${apiVersion}`;
      throw forbid(
        attributes,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${problem}`,
      );
    }
    for (const { namespaced, ...resource } of resources) {
      // A namespaced owner is in the namespace of its dependent.
      const namespace = namespaced ? attributes.namespace : '';
      if (await mayDo({ ...permission, ...resource, namespace, name })) continue;
      throw forbid(
        attributes,
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
      );
    }
  }
}

import { asFields } from '../../machinery/fields.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import { goQuote } from '../../machinery/field-error.js';
import type { KubeObject, OwnerReference } from '../../machinery/kube-object.js';
import { semanticEqual } from '../../machinery/semantic-equal.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import type { PluginParts } from '../plugin-dependencies.js';
import { forbid } from '../refusal.js';

type Parts = Pick<PluginParts, 'mayDo' | 'resourcesOfKind'>;

/**
 * Refuses changes of metadata.ownerReferences by users who may not delete the object, since owners decide when it is
 * deleted, and refuses blockOwnerDeletion by users who may not update the `finalizers` subresource of the owner.
 * Creating an object with owners is not a change.
 */
export function ownerReferencesPermissionEnforcement(parts: Parts): AdmissionPlugin {
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    async validate(attributes) {
      const { operation, object, old, resource, subresource, namespace, name, request } = attributes;
      if (!object || (operation !== 'CREATE' && operation !== 'UPDATE')) return;
      // Status updates of Pods cannot change owners; old kubelets send broken ones.
      if (resource.group === '' && resource.resource === 'pods' && subresource === 'status') return;
      if (semanticEqual(ownersOf(object), ownersOf(old))) return;
      const right = { user: request.user, ...resource, subresource, namespace, name };
      if (operation === 'UPDATE' && !(await parts.mayDo({ ...right, verb: 'delete' }))) {
        throw forbid(attributes, "cannot set an ownerRef on a resource you can't delete: , <nil>");
      }
      await checkBlockedOwners(parts, attributes, newlyBlocking(ownersOf(object), ownersOf(old)));
    },
  };
}

const ownersOf = (object: KubeObject | undefined): readonly OwnerReference[] =>
  // The review kinds have no metadata at all.
  (asFields(object?.metadata)['ownerReferences'] as readonly OwnerReference[] | undefined) ?? [];

/** Owners with blockOwnerDeletion that the old object does not have, or has without it. */
function newlyBlocking(owners: readonly OwnerReference[], before: readonly OwnerReference[]): OwnerReference[] {
  const blocked = new Map(before.map(({ uid, blockOwnerDeletion }) => [uid, blockOwnerDeletion === true]));
  return owners.filter(({ uid, blockOwnerDeletion }) => blockOwnerDeletion === true && blocked.get(uid) !== true);
}

async function checkBlockedOwners(
  { mayDo, resourcesOfKind }: Parts,
  attributes: AdmissionAttributes,
  owners: readonly OwnerReference[],
): Promise<void> {
  if (owners.length === 0) return;
  const right = { user: attributes.request.user, verb: 'update', subresource: 'finalizers' };
  if (await mayDo({ ...right, group: '*', resource: '*', name: '*' })) return;
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
      // An owner in a namespace is in that of its dependent.
      if (await mayDo({ ...right, ...resource, namespace: namespaced ? attributes.namespace : '', name })) continue;
      throw forbid(
        attributes,
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
      );
    }
  }
}

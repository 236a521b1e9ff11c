import type { EncodedObject } from '../../cache/encoded-object.js';
import { ApiError } from '../../machinery/api-error.js';
import { fieldError } from '../../machinery/field-error.js';
import { unsafeDeletionOption } from '../../machinery/delete-options.js';
import type { RequestContext } from '../request-context.js';
import type { ResourceStore } from '../resource-store.js';
import { fromStore } from '../storage-to-api-error.js';
import type { Cancellation } from '../../std/cancellation.js';

/**
 * Removes a corrupt value if it is still at the revision that was read, without validation. Returns false if it has
 * changed.
 */
export async function removeUnreadable(
  { dependencies }: ResourceStore,
  { key, revision }: Pick<EncodedObject, 'key' | 'revision'>,
  signal: Cancellation | undefined,
): Promise<boolean> {
  const unchanged = [{ key, modRevision: revision }];
  const result = await fromStore(dependencies.kv.txn(unchanged, [{ type: 'delete', key }], signal && { signal }));
  return result.succeeded;
}

/**
 * Implements the delete option ignoreStoreReadErrorWithClusterBreakingPotential: removes a stored value that cannot be
 * decoded. Finalizers and preconditions are unknown and ignored. An object that can be decoded is rejected (422).
 */
export async function deleteUnreadable(
  store: ResourceStore,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { signal }: RequestContext,
): Promise<void> {
  const key = store.keyOf(namespace, name);
  const { item } = await fromStore(store.dependencies.kv.get(key, signal && { signal }));
  if (!item) throw ApiError.notFound(store.groupResource, name);
  if (store.codec.decode(item).corruption === undefined) {
    const { group, plural: kind } = store.definition;
    const detail = 'is exclusively used to delete corrupt object(s), try again by removing this option';
    throw ApiError.invalid({ group, kind }, name, [fieldError.invalid(unsafeDeletionOption, true, detail)]);
  }
  if (!(await removeUnreadable(store, { key, revision: item.modRevision }, signal))) {
    throw ApiError.conflict(
      store.groupResource,
      name,
      'the stored value was changed before it could be deleted; please try again',
    );
  }
}

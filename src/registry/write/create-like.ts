import { ApiError } from '../../machinery/api-error.js';
import { asFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { noRevision } from '../../machinery/revision.js';
import type { ResourceStore } from '../resource-store.js';
import { objectTime } from './system-fields.js';
import type { DeleteContext } from './write-context.js';

/**
 * Creates an object with the fields of `model`, which createObject() has made in a store of the same definition, but with
 * a uid and times of its own. Nothing is defaulted, validated or admitted again. `model` may be frozen. The definition
 * must not reserve anything.
 */
export async function createLike(
  store: ResourceStore,
  model: KubeObject,
  { request }: Pick<DeleteContext, 'request'>,
): Promise<void> {
  const { clock, rng } = store.dependencies;
  const time = objectTime(clock.now());
  const { managedFields } = model.metadata;
  const metadata = {
    ...model.metadata,
    uid: rng.uuid(),
    creationTimestamp: time,
    ...(managedFields && { managedFields: managedFields.map((entry) => ({ ...asFields(entry), time })) }),
  };
  const { name = '', namespace = '' } = metadata;
  const key = store.keyOf(namespace, name);
  const value = store.codec.encode({ ...model, metadata }, key);
  const result = await store.commit(store.codec.put(key, value), noRevision, request);
  if ('newer' in result) throw ApiError.alreadyExists(store.groupResource, name);
}

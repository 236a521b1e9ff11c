import type { NamingProfile } from '../../../config/naming-profile.js';
import { ApiError } from '../../../machinery/api-error.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { plainDelete } from '../../../machinery/delete-options.js';
import { rbacVersion } from '../../../modules/rbac/rbac.resources.js';
import { deleteObject } from '../../../registry/write/delete.js';
import type { ResourceRegistry } from '../../../registry/resource-registry.js';
import type { ResourceStore } from '../../../registry/resource-store.js';
import { updateObject } from '../../../registry/write/update.js';
import { forEachConcurrent } from '../../../std/for-each-concurrent.js';
import { createInitial } from '../create-initial.js';
import { bootContext } from '../ensure-object.js';
import { addMissing, hasOtherRole, type RbacObject } from './add-missing.js';
import { autoupdateAnnotation, roleObjects } from './role-objects.js';

/** Limits concurrent writes of the first start, which creates about 130 objects. */
const concurrency = 16;
/** Another server may create or delete the same object at the same time, but hardly several times. */
const attemptsMax = 5;

/** Writes the initial RBAC roles and bindings. If all exist and are complete, only the cache is read. */
export async function ensureRoles(registry: ResourceRegistry, naming: NamingProfile): Promise<void> {
  const { group, version } = rbacVersion(naming);
  const annotation = autoupdateAnnotation(naming);
  const isLeftAlone = ({ metadata }: KubeObject) => metadata.annotations?.[annotation] === 'false';
  for (const [plural, objects] of Object.entries<readonly RbacObject[]>({ ...roleObjects(naming) })) {
    const served = registry.find(group, version, plural);
    // --runtime-config may disable the resource.
    if (served?.type !== 'stored') continue;
    const { store } = served;
    const options = { concurrency, clock: store.dependencies.clock };
    await forEachConcurrent(objects, options, (wanted) => ensure(store, wanted, isLeftAlone));
  }
}

interface Ref {
  readonly name: string;
  readonly namespace: string;
}

async function ensure(
  store: ResourceStore,
  wanted: KubeObject,
  isLeftAlone: (current: KubeObject) => boolean,
): Promise<void> {
  const { name = '', namespace = '' } = wanted.metadata;
  const ref = { name, namespace };
  const key = store.keyOf(namespace, name);
  const known = store.cache.get(key);
  // An object that cannot be decoded must not fail the start.
  if (known?.corruption) return;
  let current = known?.parse();
  for (let attempt = 1; ; attempt++) {
    try {
      if (!current) await createInitial(store, wanted, bootContext());
      else if (isLeftAlone(current)) return;
      else if (hasOtherRole(current, wanted)) await replace(store, ref, current, wanted);
      else if (addMissing(current, wanted) !== current) {
        await add(store, ref, (it) => (isLeftAlone(it) || hasOtherRole(it, wanted) ? it : addMissing(it, wanted)));
      }
      return;
    } catch (error) {
      if (!isRace(error) || attempt === attemptsMax) throw error;
      current = (await store.storedCurrent(key, undefined)).encoded?.parse();
    }
  }
}

async function add(store: ResourceStore, ref: Ref, changed: (current: KubeObject) => KubeObject): Promise<void> {
  const options = { requiresResourceVersion: false, createsMissing: false };
  await updateObject(store, ref, (current) => structuredClone(changed(current!)), options, bootContext());
}

async function replace(store: ResourceStore, ref: Ref, current: KubeObject, wanted: KubeObject): Promise<void> {
  const { uid } = current.metadata;
  const { gone } = await deleteObject(store, ref, { ...plainDelete, preconditions: { uid } }, bootContext());
  // If a finalizer keeps the old one, the next start creates the new one.
  if (gone) await createInitial(store, wanted, bootContext());
}

const races: readonly string[] = ['AlreadyExists', 'NotFound', 'Conflict'];
/** True for errors of concurrent writes of another server. */
const isRace = (error: unknown) => error instanceof ApiError && races.includes(error.reason);

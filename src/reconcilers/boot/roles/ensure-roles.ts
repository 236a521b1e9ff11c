import type { NamingProfile } from '../../../config/naming-profile.js';
import { ApiError } from '../../../machinery/api-error.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { plainDelete } from '../../../machinery/list-options.js';
import { rbacVersion } from '../../../modules/rbac/rbac.resources.js';
import { createObject } from '../../../registry/write/create.js';
import { deleteObject } from '../../../registry/write/delete.js';
import type { ResourceRegistry } from '../../../registry/resource-registry.js';
import type { ResourceStore } from '../../../registry/resource-store.js';
import { updateObject } from '../../../registry/write/update.js';
import { forEachConcurrent } from '../../../std/for-each-concurrent.js';
import { bootContext } from '../ensure-object.js';
import { givesAnother, putRight } from './add-missing.js';
import { autoupdateAnnotation, roleObjects } from './role-objects.js';

/** The first start makes some 130 objects: a store far away is not asked for all of them at once. */
const concurrency = 16;
/** Another server may make or take away the same object at the same time, but hardly again and again. */
const attemptsMax = 5;

/** Roles and bindings that every cluster begins with. Where all are in place, it costs looks into the cache alone. */
export async function ensureRoles(registry: ResourceRegistry, naming: NamingProfile): Promise<void> {
  const { group, version } = rbacVersion(naming);
  const annotation = autoupdateAnnotation(naming);
  const isLeftAlone = ({ metadata }: KubeObject) => metadata.annotations?.[annotation] === 'false';
  for (const [plural, objects] of Object.entries(roleObjects(naming))) {
    const served = registry.find(group, version, plural);
    // --runtime-config may leave it out.
    if (served?.type !== 'stored') continue;
    const { store } = served;
    const options = { concurrency, clock: store.dependencies.clock };
    await forEachConcurrent(objects as readonly KubeObject[], options, (wanted) => ensure(store, wanted, isLeftAlone));
  }
}

interface Place {
  readonly name: string;
  readonly namespace: string;
}

async function ensure(
  store: ResourceStore,
  wanted: KubeObject,
  isLeftAlone: (current: KubeObject) => boolean,
): Promise<void> {
  const { name = '', namespace = '' } = wanted.metadata;
  const place = { name, namespace };
  const key = store.keyOf(namespace, name);
  const known = store.cache.get(key);
  // What cannot be read is for somebody to look at, and no reason not to start.
  if (known?.corruption) return;
  let current = known?.parse();
  for (let attempt = 1; ; attempt++) {
    try {
      if (!current) await createObject(store, structuredClone(wanted), bootContext());
      else if (isLeftAlone(current)) return;
      else if (givesAnother(current, wanted)) await replace(store, place, current, wanted);
      else if (putRight(current, wanted) !== current) {
        await add(store, place, (it) => (isLeftAlone(it) || givesAnother(it, wanted) ? it : putRight(it, wanted)));
      }
      return;
    } catch (error) {
      if (!isRace(error) || attempt === attemptsMax) throw error;
      current = (await store.storedCurrent(key, undefined)).encoded?.parse();
    }
  }
}

async function add(store: ResourceStore, place: Place, changed: (current: KubeObject) => KubeObject): Promise<void> {
  const options = { requiresResourceVersion: false, createsMissing: false };
  await updateObject(store, place, (current) => structuredClone(changed(current!)), options, bootContext());
}

async function replace(store: ResourceStore, place: Place, current: KubeObject, wanted: KubeObject): Promise<void> {
  const { uid } = current.metadata;
  const { gone } = await deleteObject(store, place, { ...plainDelete, preconditions: { uid } }, bootContext());
  // Where a finalizer holds it, the next start makes the new one.
  if (gone) await createObject(store, structuredClone(wanted), bootContext());
}

const races: readonly string[] = ['AlreadyExists', 'NotFound', 'Conflict'];
const isRace = (error: unknown) => error instanceof ApiError && races.includes(error.reason);

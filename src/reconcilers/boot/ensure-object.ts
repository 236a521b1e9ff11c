import type { EncodedObject } from '../../cache/encoded-object.js';
import { ApiError } from '../../machinery/api-error.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { loopbackUser } from '../../machinery/user-info.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import { updateObject } from '../../registry/write/update.js';
import { noAdmission, type ManagedFieldsMode, type WriteContext } from '../../registry/write/write-context.js';
import { createInitial } from './create-initial.js';

/** An object that a start creates if it does not exist, and the fields that later starts restore. */
export interface BootObject {
  /** The core group by default. */
  readonly group?: string;
  readonly version?: string;
  readonly resource: string;
  readonly object: KubeObject;
  /** Top-level fields that are restored; all others keep the values that users set. */
  readonly keeps: readonly string[];
  /** The manager of its fields in managedFields; without one, no manager owns them. */
  readonly fieldManager?: string;
  /** True if an existing object must not be changed. */
  readonly isLeftAlone?: (current: KubeObject) => boolean;
}

export function bootContext(
  fieldManager = 'keelson',
  managedFields: ManagedFieldsMode = { mode: 'none' },
): WriteContext {
  return {
    admission: noAdmission,
    managedFields,
    request: {
      user: loopbackUser,
      signal: undefined,
      warnings: [],
      dryRun: false,
      fieldManager,
      auditAnnotations: new Map<string, string>(),
    },
  };
}

export async function ensureObject(registry: ResourceRegistry, boot: BootObject): Promise<void> {
  const { group = '', version = 'v1', resource, object, keeps, isLeftAlone, fieldManager } = boot;
  const served = registry.find(group, version, resource);
  // --runtime-config may disable the resource.
  if (served?.type !== 'stored') return;
  const { store } = served;
  const { name = '', namespace = '' } = object.metadata;
  const context = fieldManager
    ? bootContext(fieldManager, { mode: 'track', definition: store.definition, subresource: '' })
    : bootContext();
  const cached = store.cache.get(store.keyOf(namespace, name));
  if (!cached) {
    try {
      await createInitial(store, object, context);
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
    }
  }
  if (keeps.length === 0 || (cached && isAsWanted(cached, boot))) return;
  await updateObject(
    store,
    { namespace, name },
    (current) => {
      const { metadata, ...rest } = current!;
      if (isLeftAlone?.(current!)) return { ...rest, metadata: { ...metadata } };
      const kept = structuredClone(Object.fromEntries(keeps.map((field) => [field, object[field]])));
      return { ...rest, metadata: { ...metadata }, ...kept };
    },
    { requiresResourceVersion: false, createsMissing: false },
    context,
  );
}

/** True if an update would change nothing. It costs ten times as much as this comparison, for each object at each start. */
function isAsWanted(cached: EncodedObject, { object, keeps, isLeftAlone }: BootObject): boolean {
  if (cached.corruption || cached.isOutdated) return false;
  const current = cached.parse();
  return isLeftAlone?.(current) === true || keeps.every((field) => deepEqual(current[field], object[field]));
}

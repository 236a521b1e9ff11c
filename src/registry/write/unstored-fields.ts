import { FieldManager } from '../../patch/apply/field-manager.js';
import { schemaOfAnyObject } from '../../patch/apply/schema-of-json-schema.js';
import { schemaOfType } from '../../patch/apply/schema-of-type.js';
import { apiVersionOf, type GroupVersionKind } from '../../machinery/gvk.js';
import type { JsonObject, KubeObject, ObjectMeta } from '../../machinery/kube-object.js';
import type { TypeSource } from '../../machinery/type-model.js';
import type { Clock } from '../../std/clock.js';
import { YieldTimer } from '../../std/yield-timer.js';
import type { RequestContext } from '../request-context.js';
import { objectTime } from './system-fields.js';

/** A kind that is created to be answered, and not stored. */
interface UnstoredKind extends GroupVersionKind {
  /** '' for the main resource. */
  readonly subresource: string;
}

const managers = new WeakMap<TypeSource, Map<string, FieldManager>>();

/** Returns managedFields of an object that is not stored, such as an access review: the fields that were submitted. */
export async function unstoredManagedFields(
  { types, clock }: { readonly types: TypeSource; readonly clock: Clock },
  kind: UnstoredKind,
  object: KubeObject,
  { fieldManager }: Pick<RequestContext, 'fieldManager'>,
): Promise<ObjectMeta['managedFields']> {
  const next = object as unknown as JsonObject;
  const update = { live: undefined, next, manager: fieldManager, time: objectTime(clock.now()) };
  const tracked = await new YieldTimer(clock).run(managerOf(types, kind).trackingUpdate(update));
  return (tracked as unknown as KubeObject).metadata.managedFields;
}

function managerOf(types: TypeSource, { group, version, kind, subresource }: UnstoredKind): FieldManager {
  const byKind = managers.get(types) ?? new Map<string, FieldManager>();
  managers.set(types, byKind);
  const apiVersion = apiVersionOf(group, version);
  const key = `${apiVersion}/${kind}/${subresource}`;
  const found = byKind.get(key);
  if (found) return found;
  const struct = types.kind(group, version, kind);
  const schema = struct ? schemaOfType(struct) : schemaOfAnyObject(schemaOfType(types.struct('meta.v1.ObjectMeta')));
  const versions = { schema: () => schema, convert: (object: JsonObject) => object };
  const manager = new FieldManager({ apiVersion, kind, subresource, schema, versions });
  byKind.set(key, manager);
  return manager;
}

import type { JsonObject, JsonValue } from '../../machinery/kube-object.js';

/** The object without the record of who owns what: that is no field that anybody owns. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  return metadata?.['managedFields'] === undefined ? object : withMetadata(object, withoutField(metadata));
}

/** A copy with another record; the argument is not changed. */
export function withManagedFields(object: JsonObject, managedFields: JsonValue[] | undefined): JsonObject {
  const metadata = withoutField(metadataOf(object) ?? {});
  if (managedFields) metadata['managedFields'] = managedFields;
  return withMetadata(object, metadata);
}

export function managedFieldsOf(object: JsonObject | undefined): JsonValue | undefined {
  return object && metadataOf(object)?.['managedFields'];
}

export function metadataOf(object: JsonObject): JsonObject | undefined {
  const { metadata } = object;
  return typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata) ? metadata : undefined;
}

function withoutField(metadata: JsonObject): JsonObject {
  const { managedFields: _managedFields, ...rest } = metadata;
  return rest;
}

function withMetadata(object: JsonObject, metadata: JsonObject): JsonObject {
  return { ...object, metadata };
}

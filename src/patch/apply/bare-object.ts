import type { JsonObject, JsonValue } from '../../machinery/kube-object.js';

/** The object without metadata.managedFields, which nobody owns. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  return metadata?.['managedFields'] === undefined ? object : withMetadata(object, withoutField(metadata));
}

/** Returns a copy with other managedFields. */
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

import { cannotBeHandled, goTypeOf } from '../../codec/request-object.js';
import { ApiError } from '../../machinery/api-error.js';
import { apiVersionOf, type GroupVersionKind } from '../../machinery/gvk.js';
import { isInt64 } from '../../machinery/int64.js';
import type { JsonObject, JsonValue, KubeObject } from '../../machinery/kube-object.js';
import { putOwn } from '../../machinery/put-own.js';
import type { StructType } from '../../machinery/type-model.js';
import { ConformError } from '../../typed/conform-error.js';
import { conform } from '../../typed/conform.js';
import type { CustomType, SubmittedObject } from '../definition/custom-type.js';

/**
 * The schema that reads a submitted object. Without a type or custom schema only metadata and the shape of spec and
 * status are checked.
 */
interface ReadAs {
  readonly type: StructType | undefined;
  readonly keepsNulls?: boolean;
  readonly customType?: CustomType | undefined;
}

/**
 * Converts a decoded body to an object of the expected kind. kind and apiVersion may be absent, but must not differ.
 */
export function submittedObject(value: unknown, expected: GroupVersionKind, readAs: ReadAs): SubmittedObject {
  const body = value === null || value === undefined ? {} : value;
  if (typeof body !== 'object' || Array.isArray(body)) {
    throw ApiError.badRequest(
      `the object provided is unrecognized (must be of type ${expected.kind}): couldn't get version/kind; it is not an object`,
    );
  }
  const object = body as KubeObject;
  const wantVersion = apiVersionOf(expected.group, expected.version);
  checkType(object, expected, wantVersion);
  if (readAs.type) return typedObject(object, expected, wantVersion, readAs.type);
  if (readAs.customType) return conformed(expected, () => readAs.customType!.read(object));
  return { object: openObject(object, expected, wantVersion, readAs), unknownFields: [] };
}

function typedObject(
  body: KubeObject,
  expected: GroupVersionKind,
  apiVersion: string,
  type: StructType,
): SubmittedObject {
  return conformed(expected, () => {
    const { object, unknownFields } = conform(body as unknown as JsonObject, type, { keepsEmpties: true });
    return { object: ordered(object as unknown as KubeObject, expected.kind, apiVersion), unknownFields };
  });
}

function conformed(expected: GroupVersionKind, read: () => SubmittedObject): SubmittedObject {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConformError)) throw error;
    throw cannotBeHandled(expected, expected.kind, error.message, error);
  }
}

/** Returns an object in the order and with the empty fields of its stored JSON. */
export function canonicalObject(object: KubeObject, type: StructType): KubeObject {
  const { kind, apiVersion } = object;
  return ordered(conform(object as unknown as JsonObject, type).object as unknown as KubeObject, kind, apiVersion);
}

/** Returns the object, or a copy of it, with its fields in the order of stored JSON. */
export function ordered(object: KubeObject, kind: string, apiVersion: string): KubeObject {
  if (object.kind === kind && object.apiVersion === apiVersion && beginsInOrder(object)) return object;
  const { kind: _kind, apiVersion: _apiVersion, metadata = {}, ...rest } = object;
  return { kind, apiVersion, metadata, ...rest };
}

function beginsInOrder(object: KubeObject): boolean {
  let at = 0;
  for (const field in object) {
    if (field !== firstFields[at++]) return false;
    if (at === firstFields.length) return object.metadata !== undefined;
  }
  return false;
}

const firstFields = ['kind', 'apiVersion', 'metadata'];

function openObject(
  object: KubeObject,
  expected: GroupVersionKind,
  wantVersion: string,
  { keepsNulls = false }: ReadAs,
): KubeObject {
  const metadata: unknown = object.metadata ?? {};
  if (typeof metadata !== 'object' || Array.isArray(metadata))
    throw wrongType(expected, 'metadata', 'v1.ObjectMeta', metadata);
  const clean = keepsNulls ? object : (withoutNulls(object as unknown as JsonValue) as unknown as KubeObject);
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...rest } = clean;
  const result: KubeObject = {
    kind: expected.kind,
    apiVersion: wantVersion,
    metadata: (withoutNulls(metadata as JsonValue) ?? {}) as KubeObject['metadata'],
    ...rest,
  };
  checkMetadata(result, expected);
  for (const field of ['spec', 'status']) {
    const part = result[field];
    if (part !== undefined && part !== null && (typeof part !== 'object' || Array.isArray(part)))
      throw wrongType(expected, field, 'object', part);
  }
  return result;
}

function checkType(object: KubeObject, expected: GroupVersionKind, wantVersion: string): void {
  const { kind, apiVersion } = object as { kind?: unknown; apiVersion?: unknown };
  for (const [field, value] of [
    ['kind', kind],
    ['apiVersion', apiVersion],
  ] as const) {
    if (value !== undefined && value !== null && typeof value !== 'string') {
      throw ApiError.badRequest(
        `the object provided is unrecognized (must be of type ${expected.kind}): couldn't get version/kind; json parse error: ` +
          `json: cannot unmarshal ${goTypeOf(value)} into Go struct field .${field} of type string`,
      );
    }
  }
  const version = typeof apiVersion === 'string' ? apiVersion : '';
  if (version.split('/').length > 2) {
    throw ApiError.badRequest(
      `the object provided is unrecognized (must be of type ${expected.kind}): unexpected GroupVersion string: ${version}`,
    );
  }
  if (!kind && !version) return;
  const short = version.slice(version.lastIndexOf('/') + 1) || expected.version;
  const submitted = { kind: typeof kind === 'string' ? kind : '', version: short };
  if (submitted.kind !== '' && submitted.kind !== expected.kind) {
    throw cannotBeHandled(submitted, expected.kind, `this resource takes only kind ${expected.kind} of ${wantVersion}`);
  }
  if (version === '' || version === wantVersion) return;
  const group = version.includes('/') ? version.slice(0, version.indexOf('/')) : '';
  if (group === expected.group) {
    throw ApiError.badRequest(
      `the API version in the data (${version}) does not match the expected API version (${wantVersion})`,
    );
  }
  throw cannotBeHandled(submitted, expected.kind, `no kind "${submitted.kind}" is registered for version "${version}"`);
}

const textFields = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'selfLink',
  'creationTimestamp',
  'deletionTimestamp',
];

function checkMetadata(object: KubeObject, expected: GroupVersionKind): void {
  const metadata = object.metadata as Record<string, unknown>;
  for (const field of textFields) {
    if (metadata[field] !== undefined && typeof metadata[field] !== 'string')
      throw wrongType(expected, `metadata.${field}`, 'string', metadata[field]);
  }
  for (const field of ['labels', 'annotations']) {
    const map = metadata[field];
    if (map === undefined) continue;
    if (typeof map !== 'object' || map === null || Array.isArray(map))
      throw wrongType(expected, `metadata.${field}`, 'map[string]string', map);
    for (const value of Object.values(map)) {
      if (typeof value !== 'string') throw wrongType(expected, `metadata.${field}`, 'string', value);
    }
    if (Object.keys(map).length === 0) delete metadata[field];
  }
  for (const field of ['finalizers', 'ownerReferences', 'managedFields']) {
    const list = metadata[field];
    if (list === undefined) continue;
    if (!Array.isArray(list)) throw wrongType(expected, `metadata.${field}`, 'list', list);
    const wanted = field === 'finalizers' ? 'string' : 'object';
    for (const item of list)
      if (typeof item !== wanted || item === null) throw wrongType(expected, `metadata.${field}`, wanted, item);
    if (field === 'ownerReferences') checkOwners(list as Record<string, unknown>[], expected);
    if (list.length === 0) delete metadata[field];
  }
  for (const field of ['generation', 'deletionGracePeriodSeconds']) {
    if (metadata[field] !== undefined && !isInt64(metadata[field]))
      throw wrongType(expected, `metadata.${field}`, 'int64', metadata[field]);
  }
}

const ownerFields = {
  apiVersion: 'string',
  kind: 'string',
  name: 'string',
  uid: 'string',
  controller: 'boolean',
  blockOwnerDeletion: 'boolean',
} as const;

function checkOwners(owners: readonly Record<string, unknown>[], expected: GroupVersionKind): void {
  for (const owner of owners) {
    for (const [field, type] of Object.entries(ownerFields)) {
      const value = owner[field];
      if (value === undefined || value === null || typeof value === type) continue;
      throw wrongType(expected, `metadata.ownerReferences.${field}`, type === 'boolean' ? 'bool' : type, value);
    }
  }
}

function wrongType(expected: GroupVersionKind, field: string, type: string, value: unknown): ApiError {
  const problem = `json: cannot unmarshal ${goTypeOf(value)} into Go struct field ${expected.kind}.${field} of type ${type}`;
  return cannotBeHandled(expected, expected.kind, problem);
}

/**
 * Removes null fields: null means that the client does not set the field. Null items of lists stay, to keep positions.
 */
function withoutNulls(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutNulls);
  const result: { [key: string]: JsonValue } = {};
  for (const [field, inner] of Object.entries(value)) {
    if (inner !== null) putOwn(result, field, withoutNulls(inner));
  }
  return result;
}

import { DecodeError } from '../../std/decode-error.js';
import { decodeJson, inspect, parseJson } from '../../codec/json.js';
import { isProtobuf, type StoredProtobuf } from '../../codec/protobuf.js';
import { encodeStored, withoutRevision } from '../../codec/stored-object.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { apiVersionOf, parseApiVersion } from '../../machinery/gvk.js';
import { isJsonObject, type JsonObject, type JsonValue, type KubeObject } from '../../machinery/kube-object.js';
import type { StructType, TypeSource } from '../../machinery/type-model.js';
import { conform } from '../../typed/conform.js';
import { applyDefaults } from '../../typed/defaults.js';
import { fits } from '../../typed/fits.js';
import type { ResourceDefinition, StoredVersion } from '../definition/resource-definition.js';
import { ordered } from '../write/submitted-object.js';

export interface StoredValuesOptions {
  readonly types: TypeSource;
  readonly protobuf: StoredProtobuf;
  /** --storage-media-type: the encoding of kinds that protobuf supports. Both encodings are read in either case. */
  readonly storageMediaType: 'json' | 'protobuf';
}

/** A decoded value, in the storage version. */
interface StoredValue {
  readonly object: KubeObject;
  /** True if the value can be served as it is, after inserting the resourceVersion. */
  readonly isPlain: boolean;
  /** True if writing the same object would change the stored bytes. */
  readonly isOutdated: boolean;
  /** Fields of the value that this server does not know. They are not in the object. */
  readonly unknownFields: readonly string[];
}

const none: readonly string[] = [];
const newline = 0x0a;

/**
 * Decodes and encodes the stored values of one resource: JSON or protobuf, in the storage version or another version of
 * the kind. Values written by this server are recognized by their first and last bytes and only checked; all others are
 * converted and defaulted to the object that this server would have stored (ADR 022).
 */
export class StoredValues {
  private readonly apiVersion: string;
  /** Undefined for custom kinds. */
  readonly type: StructType | undefined;
  private readonly metadataType: StructType;
  private readonly ownStart: Buffer;
  readonly writesProtobuf: boolean;
  private readonly others = new Map<string, StoredVersion>();
  private readonly groups = new Map<string, StoredVersion>();

  constructor(
    private readonly definition: ResourceDefinition,
    private readonly options: StoredValuesOptions,
    private readonly fillDefaults: (object: KubeObject) => void,
  ) {
    const { group, version, kind, storage, storedVersions = [] } = definition;
    const { types, protobuf, storageMediaType } = options;
    this.apiVersion = apiVersionOf(group, version);
    this.type = definition.customType ? undefined : types.kind(group, version, kind);
    this.metadataType = types.struct('meta.v1.ObjectMeta');
    this.ownStart = Buffer.from(`{"kind":"${kind}","apiVersion":"${this.apiVersion}","metadata":{`);
    const asJson = storageMediaType === 'json' || storage !== undefined || definition.customType !== undefined;
    this.writesProtobuf = !asJson && protobuf.hasKind(this.apiVersion, kind);
    for (const other of storedVersions) this.add(other);
  }

  /** Also decodes values of another version. Versions of the same group with equal fields need not be added. */
  add(version: StoredVersion): void {
    const kind = version.kind ?? this.definition.kind;
    this.others.set(`${apiVersionOf(version.group, version.version)} ${kind}`, version);
    // Earlier versions of another group (events.k8s.io) have the fields of the known version.
    if (version.group !== this.definition.group) this.groups.set(`${version.group} ${kind}`, version);
  }

  /** Decodes a value. Throws DecodeError or ConformError if it is not an object of the resource. */
  read(value: Buffer): StoredValue {
    return this.readOwn(value) ?? this.readForeign(value);
  }

  encode(object: KubeObject): Buffer {
    const { storage } = this.definition;
    if (storage) return encodeStored(storage.fromHub(object));
    return this.writesProtobuf ? this.options.protobuf.encode(withoutRevision(object)) : encodeStored(object);
  }

  /** True if a value from encode() is the JSON that is served. */
  isPlain(value: Buffer): boolean {
    return this.definition.storage === undefined && !isProtobuf(value);
  }

  /** True if the value begins and ends like the JSON of a built-in kind that this server writes. */
  isOwn(value: Buffer): boolean {
    if (this.definition.storage || !this.type) return false;
    return value.at(-1) !== newline && startsWith(value, this.ownStart);
  }

  /**
   * Decodes a value that this server has written. Go's JSON encoder ends values with a newline, this server does not.
   */
  private readOwn(value: Buffer): StoredValue | undefined {
    const { type } = this;
    if (!type || !this.isOwn(value)) return undefined;
    const object = parseJson(value);
    if (!fits(object, type, isSafe)) return undefined;
    const isOutdated = this.writesProtobuf;
    return { object: object as unknown as KubeObject, isPlain: true, isOutdated, unknownFields: none };
  }

  private readForeign(value: Buffer): StoredValue {
    const decoded = isProtobuf(value)
      ? this.options.protobuf.decode(value)
      : { object: objectOf(decodeJson(value)), unknownFields: none };
    const { customType } = this.definition;
    if (customType || !this.type) return this.readUntyped(value, decoded.object);

    const unknownFields = [...decoded.unknownFields];
    const stored = this.typed(decoded.object, unknownFields);
    this.fillDefaults(stored);
    const object = this.conformed(stored as unknown as JsonObject, this.type, unknownFields, false);
    const isSame = isProtobuf(value)
      ? this.encode(object).equals(value)
      : !this.writesProtobuf && isSameValue(decoded.object, this.storedForm(object));
    return { object, isPlain: false, isOutdated: !isSame, unknownFields: unknownFields.map(shortened) };
  }

  private storedForm(object: KubeObject): KubeObject {
    const { storage } = this.definition;
    return storage ? storage.fromHub(object) : object;
  }

  /** Converts a decoded value from the type of its stored version to the definition's version. */
  private typed(decoded: JsonObject, unknownFields: string[]): KubeObject {
    const { kind, apiVersion } = namesOf(decoded);
    if (apiVersion === this.apiVersion && kind === this.definition.kind) {
      return this.conformed(decoded, this.type!, unknownFields);
    }
    const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
    const other = this.others.get(`${apiVersion} ${kind}`) ?? this.groups.get(`${group} ${kind}`);
    const isOfGroup = group === this.definition.group && kind === this.definition.kind;
    const type = other || isOfGroup ? this.options.types.kind(group, version, kind) : undefined;
    if (!type) throw new DecodeError(`no kind ${shown(kind)} of version ${shown(apiVersion)} belongs to this resource`);
    const object = this.conformed(decoded, type, unknownFields);
    applyDefaults(object as unknown as JsonObject, type);
    const converted = other?.toHub ? other.toHub(object) : object;
    const renamed = { ...converted, kind: this.definition.kind, apiVersion: this.apiVersion };
    return this.conformed(renamed as unknown as JsonObject, this.type!, unknownFields);
  }

  private conformed(decoded: JsonObject, type: StructType, unknownFields: string[], keepsEmpties = true): KubeObject {
    const { kind, apiVersion } = namesOf(decoded);
    const { object, unknownFields: unknown } = conform(decoded, type, { keepsEmpties, findsNested: true });
    unknownFields.push(...unknown);
    return ordered(object as unknown as KubeObject, kind, apiVersion);
  }

  /** Reads an object of a custom kind: checks its metadata by type and the rest by its CustomResourceDefinition. */
  private readUntyped(value: Buffer, decoded: JsonObject): StoredValue {
    const { kind, apiVersion } = namesOf(decoded);
    const isKnown = apiVersion === this.apiVersion || this.others.has(`${apiVersion} ${kind}`);
    if (kind !== this.definition.kind || !isKnown) {
      throw new DecodeError(`no kind ${shown(kind)} of version ${shown(apiVersion)} belongs to this resource`);
    }
    const unknownFields: string[] = [];
    let object = decoded as unknown as KubeObject;
    if (!fits(decoded['metadata'] ?? null, this.metadataType, isSafe)) {
      const { object: metadata, unknownFields: unknown } = conform(decoded['metadata'], this.metadataType);
      unknownFields.push(...unknown.map((field) => `metadata.${field}`));
      object = ordered({ ...object, metadata }, kind, apiVersion);
    }
    const refreshed = this.definition.customType?.refreshed(object);
    const isChanged = refreshed !== undefined || object !== (decoded as unknown as KubeObject);
    return {
      object: refreshed ?? object,
      isPlain: !isChanged && !isProtobuf(value),
      isOutdated: isChanged || apiVersion !== this.apiVersion,
      unknownFields,
    };
  }
}

function startsWith(value: Buffer, start: Buffer): boolean {
  return value.length > start.length && value.compare(start, 0, start.length, 0, start.length) === 0;
}

/** True for untyped JSON (managedFields) without large numbers and dangerous keys. */
const isSafe = (value: JsonValue): boolean => inspect(value) === undefined;

function objectOf(value: JsonValue): JsonObject {
  if (isJsonObject(value)) return value;
  throw new DecodeError('the value is no object');
}

function namesOf(object: JsonObject): { kind: string; apiVersion: string } {
  const { kind, apiVersion } = object;
  if (typeof kind !== 'string' || kind === '') throw new DecodeError('the value has no kind');
  if (typeof apiVersion !== 'string' || apiVersion === '') throw new DecodeError('the value has no apiVersion');
  return { kind, apiVersion };
}

function isSameValue(decoded: JsonObject, object: KubeObject): boolean {
  const { metadata, ...rest } = decoded;
  const { resourceVersion: _resourceVersion, selfLink: _selfLink, ...kept } = (metadata ?? {}) as JsonObject;
  return deepEqual({ metadata: kept, ...rest }, object);
}

/** Truncates names from stored values, whose length is not bounded. */
const shortened = (name: string): string => (name.length > nameLengthMax ? `${name.slice(0, nameLengthMax)}…` : name);
const nameLengthMax = 100;
const shown = (name: string): string => `"${shortened(name)}"`;

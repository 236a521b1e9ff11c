import { BytesInStore } from '../../cache/bytes-in-store.js';
import { EncodedObject, type Attributes, type Decode } from '../../cache/encoded-object.js';
import { DecodeError } from '../../std/decode-error.js';
import { encodeRead, spliceResourceVersion, spliceWhenCopied } from '../../codec/stored-object.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { noRevision, type Revision } from '../../machinery/revision.js';
import { isEncrypted, UntransformableError } from '../../storage/value-transforms.js';
import type { KeyValue, Write } from '../../storage/kv-store.js';
import { AttributeReader } from './attribute-reader.js';
import { AttributeScan } from './attribute-scan.js';
import { OwnValues } from './own-values.js';
import type { ResourceDefinition, StoredVersion } from '../definition/resource-definition.js';
import type { StoredValues } from './stored-values.js';

/**
 * Converts between stored bytes and objects of one kind. Decodes once per watch event, encodes once per write. Values with a
 * summary are not parsed (ADR 070).
 */
export interface ObjectCodec {
  readonly decode: Decode;
  /** Encodes the value to be written under `key`. */
  encode(object: KubeObject, key: string): Buffer;
  /** Returns the write of a value from encode(), with its summary. */
  put(key: string, value: Buffer): Write;
  /** Returns a value that was just written as the cache entry it becomes, without parsing it. */
  written(object: KubeObject, key: string, value: Buffer, revision: Revision): EncodedObject;
  /** Also decodes values of that version from now on. */
  addVersion(version: StoredVersion): void;
}

interface ObjectCodecOptions {
  readonly values: StoredValues;
  readonly keyOf: (namespace: string, name: string) => string;
}

export function objectCodec(definition: ResourceDefinition, { values, keyOf }: ObjectCodecOptions): ObjectCodec {
  const { group, version, kind, namespaced } = definition;
  const ownValues = new OwnValues();
  const attributes = new AttributeReader(definition.selectableFields, [group, version, kind].join('/'), namespaced);
  let scan: AttributeScan | 'none' | undefined;

  const scanned = ({ key, value }: KeyValue): Attributes | undefined => {
    const { type } = values;
    if (!type || !values.isOwn(value)) return undefined;
    const labels = Object.keys(definition.selectableFields);
    scan ??= AttributeScan.of(attributes, { type, labels, isNamespaced: namespaced }) ?? 'none';
    const found = scan === 'none' ? undefined : scan.read(value, key);
    return found && keyOf(found.namespace, found.name) === key ? found : undefined;
  };

  const decode = (item: KeyValue): EncodedObject => {
    if (item.failure) return EncodedObject.corrupt(item, item.failure);
    if (item.deferred) {
      const known = item.summary && attributes.readSummary(item.summary, item.key);
      if (known)
        return new EncodedObject(item.key, item.modRevision, BytesInStore.of(item.deferred, item.modRevision), known);
      return decode({ ...item, value: item.deferred.read(item.key, item.modRevision), deferred: undefined });
    }
    const own = ownValues.find(item.key, item.value, item.modRevision);
    if (own) {
      // Decoding a custom object depends on its CustomResourceDefinition, which may change.
      if (definition.customType) ownValues.forget(item.key);
      return own;
    }
    try {
      const known =
        item.summary && values.isOwn(item.value) ? attributes.readSummary(item.summary, item.key) : undefined;
      if (known) {
        return new EncodedObject(item.key, item.modRevision, spliceWhenCopied(item.value, item.modRevision), known);
      }
      const found = scanned(item);
      if (found) {
        const spliced = spliceWhenCopied(item.value, item.modRevision);
        const encoded = new EncodedObject(item.key, item.modRevision, spliced, found);
        if (values.writesProtobuf) encoded.isOutdated = true;
        return encoded;
      }
      const { object, isPlain, isOutdated, unknownFields } = values.read(item.value);
      const { namespace = '', name = '' } = object.metadata;
      if (keyOf(namespace, name) !== item.key) throw new DecodeError('the value is an object of another name');
      const { modRevision } = item;
      const bytes = isPlain ? spliceWhenCopied(item.value, modRevision) : encodeRead(object, modRevision);
      const encoded = new EncodedObject(item.key, item.modRevision, bytes, attributes.read(object));
      if (isOutdated) encoded.isOutdated = true;
      if (unknownFields.length > 0) encoded.unknownFields = unknownFields;
      return encoded;
    } catch (error) {
      return EncodedObject.corrupt(item, isEncrypted(item.value) ? encryptedError() : (error as Error));
    }
  };

  return {
    decode,
    encode(object, key) {
      const value = values.encode(object);
      if (values.isPlain(value)) {
        const read = attributes.read(object);
        const encodedAt = (revision: Revision) =>
          new EncodedObject(key, revision, spliceResourceVersion(value, revision), read);
        ownValues.remember(key, value, encodedAt, values.isOwn(value) ? read : undefined);
      } else if (definition.storage) {
        // The conversion of definition.storage is lossless. Protobuf may drop fields, so such a value is decoded again.
        const encoded = new EncodedObject(key, noRevision, encodeRead(object, noRevision), attributes.read(object));
        ownValues.remember(key, value, (revision) => encoded.at(revision));
      }
      return value;
    },
    put(key, value) {
      const known = ownValues.attributesOf(key, value);
      return known
        ? { type: 'put', key, value, summarize: () => attributes.summarize(known) }
        : { type: 'put', key, value };
    },
    written(object, key, value, revision) {
      const own = ownValues.find(key, value, revision);
      if (own) return own;
      const bytes = values.isPlain(value) ? spliceResourceVersion(value, revision) : encodeRead(object, revision);
      return new EncodedObject(key, revision, bytes, attributes.read(object));
    },
    addVersion: (version) => values.add(version),
  };
}

/** The error for an encrypted value of a resource that the configuration does not encrypt, as in kube-apiserver. */
const encryptedError = () => new UntransformableError('identity transformer tried to read encrypted data');

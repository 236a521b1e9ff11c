import { EncodedObject, type Attributes, type Decode, type Lifetime } from '../../cache/encoded-object.js';
import { DecodeError } from '../../std/decode-error.js';
import { decodeJson, encodeJson } from '../../codec/json.js';
import { InternedStrings } from '../../std/interned-strings.js';
import { encodeRead, spliceResourceVersion } from '../../codec/stored-object.js';
import type { KubeObject, ObjectMeta } from '../../machinery/kube-object.js';
import { noRevision, type Revision } from '../../machinery/revision.js';
import { isEncrypted, UntransformableError } from '../../storage/value-transforms.js';
import { OwnValues } from './own-values.js';
import type { ResourceDefinition, StoredVersion } from '../definition/resource-definition.js';
import type { StoredValues } from './stored-values.js';

/** Converts between stored bytes and objects of one kind. Decodes once per watch event, encodes once per write. */
export interface ObjectCodec {
  readonly decode: Decode;
  /** Encodes the value to be written under `key`. */
  encode(object: KubeObject, key: string): Buffer;
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
  const ownValues = new OwnValues();
  const attributesOf = attributeReader(Object.entries(definition.selectableFields));

  return {
    decode(item) {
      if (item.failure) return EncodedObject.corrupt(item, item.failure);
      const own = ownValues.find(item.key, item.value, item.modRevision);
      if (own) {
        // Decoding a custom object depends on its CustomResourceDefinition, which may change.
        if (definition.customType) ownValues.forget(item.key);
        return own;
      }
      try {
        const { object, isPlain, isOutdated, unknownFields } = values.read(item.value);
        const { namespace = '', name = '' } = object.metadata;
        if (keyOf(namespace, name) !== item.key) throw new DecodeError('the value is an object of another name');
        const { modRevision } = item;
        const bytes = isPlain ? spliceResourceVersion(item.value, modRevision) : encodeRead(object, modRevision);
        const encoded = new EncodedObject(item.key, item.modRevision, bytes, attributesOf(object));
        if (isOutdated) encoded.isOutdated = true;
        if (unknownFields.length > 0) encoded.unknownFields = unknownFields;
        return encoded;
      } catch (error) {
        return EncodedObject.corrupt(item, isEncrypted(item.value) ? encryptedError() : (error as Error));
      }
    },
    encode(object, key) {
      const value = values.encode(object);
      if (values.isPlain(value)) {
        const attributes = attributesOf(object);
        ownValues.remember(
          key,
          value,
          (revision) => new EncodedObject(key, revision, spliceResourceVersion(value, revision), attributes),
        );
      } else if (definition.storage) {
        // The conversion of definition.storage is lossless. Protobuf may drop fields, so such a value is decoded again.
        const encoded = new EncodedObject(key, noRevision, encodeRead(object, noRevision), attributesOf(object));
        ownValues.remember(key, value, (revision) => encoded.at(revision));
      }
      return value;
    },
    written(object, key, value, revision) {
      const own = ownValues.find(key, value, revision);
      if (own) return own;
      const bytes = values.isPlain(value) ? spliceResourceVersion(value, revision) : encodeRead(object, revision);
      return new EncodedObject(key, revision, bytes, attributesOf(object));
    },
    addVersion: (version) => values.add(version),
  };
}

/** The error for an encrypted value of a resource that the configuration does not encrypt, as in kube-apiserver. */
const encryptedError = () => new UntransformableError('identity transformer tried to read encrypted data');

type SelectableField = readonly [label: string, read: (object: KubeObject) => string];

/** Returns a function that reads the attributes of an object. Equal values of many objects are one string. */
function attributeReader(selectable: readonly SelectableField[]): (object: KubeObject) => Attributes {
  const strings = new InternedStrings(internedMax);
  // Decoded objects have room for exactly their properties, and so have copies.
  const names = decodeJson(encodeJson(Object.fromEntries(selectable.map(([label]) => [label, '']))));
  const template = names as Readonly<Record<string, string>>;
  return (object) => {
    const { metadata } = object;
    const fields = { ...template };
    for (const [label, read] of selectable) fields[label] = strings.get(read(object));
    return {
      namespace: strings.get(metadata.namespace ?? ''),
      name: metadata.name ?? '',
      uid: metadata.uid,
      labels: metadata.labels && internedValues(metadata.labels, strings),
      fields,
      lifetime: lifetimeOf(metadata),
    };
  };
}

function internedValues(labels: Readonly<Record<string, string>>, strings: InternedStrings): Record<string, string> {
  const copy = { ...labels };
  for (const name in copy) copy[name] = strings.get(copy[name]!);
  return copy;
}

/** For each resource. */
const internedMax = 16_384;

function lifetimeOf({ ownerReferences, finalizers, deletionTimestamp }: ObjectMeta): Lifetime | undefined {
  const isDeleting = typeof deletionTimestamp === 'string';
  if (!isDeleting && !ownerReferences?.length && !finalizers?.length) return undefined;
  return { owners: ownerReferences ?? [], finalizers: finalizers ?? [], isDeleting };
}

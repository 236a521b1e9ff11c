import { EncodedObject, type Attributes, type Decode, type Lifetime } from '../cache/encoded-object.js';
import { decodeJson } from '../codec/json.js';
import { encodeStored, spliceResourceVersion } from '../codec/stored-object.js';
import type { KubeObject, ObjectMeta } from '../machinery/kube-object.js';
import type { Revision } from '../machinery/revision.js';
import type { KeyValue } from '../storage/kv-store.js';
import type { ResourceDefinition } from './resource-definition.js';

/** Bytes of the store ↔ objects of one kind. Decoding happens once an event, encoding once a write. */
export interface ObjectCodec {
  readonly decode: Decode;
  encode(object: KubeObject): Buffer;
  /** What was just written, as the feed will bring it: no second parse. */
  written(object: KubeObject, key: string, value: Buffer, revision: Revision): EncodedObject;
}

export function objectCodec(definition: ResourceDefinition): ObjectCodec {
  const selectable = Object.entries(definition.selectableFields);

  const attributesOf = (object: KubeObject): Attributes => {
    const { metadata } = object;
    const fields: Record<string, string> = {};
    for (const [label, read] of selectable) fields[label] = read(object);
    return {
      namespace: metadata.namespace ?? '',
      name: metadata.name ?? '',
      uid: metadata.uid,
      labels: metadata.labels,
      fields,
      lifetime: lifetimeOf(metadata),
    };
  };

  const outdated = (item: KeyValue, refreshed: KubeObject): EncodedObject => {
    const bytes = spliceResourceVersion(encodeStored(refreshed), item.modRevision);
    const encoded = new EncodedObject(item.key, item.modRevision, bytes, attributesOf(refreshed));
    encoded.isOutdated = true;
    return encoded;
  };

  return {
    decode(item) {
      try {
        const object = decodeJson(item.value) as unknown as KubeObject;
        const refreshed = definition.form?.refreshed(object);
        if (refreshed) return outdated(item, refreshed);
        return new EncodedObject(
          item.key,
          item.modRevision,
          spliceResourceVersion(item.value, item.modRevision),
          attributesOf(object),
        );
      } catch (error) {
        return EncodedObject.corrupt(item.key, item.modRevision, error as Error);
      }
    },
    encode: (object) => encodeStored(object),
    written: (object, key, value, revision) =>
      new EncodedObject(key, revision, spliceResourceVersion(value, revision), attributesOf(object)),
  };
}

function lifetimeOf({ ownerReferences, finalizers, deletionTimestamp }: ObjectMeta): Lifetime | undefined {
  const isDeleting = typeof deletionTimestamp === 'string';
  if (!isDeleting && !ownerReferences?.length && !finalizers?.length) return undefined;
  return { owners: ownerReferences ?? [], finalizers: finalizers ?? [], isDeleting };
}

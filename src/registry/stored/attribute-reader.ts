import { createHash } from 'node:crypto';
import type { Attributes, Lifetime } from '../../cache/encoded-object.js';
import { encodeJson, parseJson } from '../../codec/json.js';
import { productVersion } from '../../config/version.js';
import type { KubeObject, ObjectMeta } from '../../machinery/kube-object.js';
import { InternedStrings } from '../../std/interned-strings.js';

type SelectableFields = Readonly<Record<string, (object: KubeObject) => string>>;

/** [format, namespace, name, uid, labels, values of the selectable fields, lifetime]; 0 stands for undefined. */
type Summary = readonly [string, string, string, string | 0, Record<string, string> | 0, string[], Lifetime | 0];

/** Summaries of large metadata are not kept: they would cost more than they save. */
const summaryBytesMax = 16 * 1024;

/**
 * Reads the attributes of objects of one kind, and keeps them in summaries beside stored values. Equal texts of many objects
 * are one string.
 */
export class AttributeReader {
  private readonly strings = new InternedStrings(internedMax);
  private readonly selectable: readonly (readonly [label: string, read: (object: KubeObject) => string])[];
  private readonly emptyFields: Readonly<Record<string, string>>;
  /** Summaries of other versions of this program, types or fields are not read: it may check values otherwise. */
  private readonly format: string;

  constructor(selectableFields: SelectableFields, typeName: string) {
    this.selectable = Object.entries(selectableFields);
    const labels = this.selectable.map(([label]) => label);
    // Decoded objects have room for exactly their properties, and so have copies.
    this.emptyFields = parseJson(encodeJson(Object.fromEntries(labels.map((label) => [label, ''])))) as Record<
      string,
      string
    >;
    const parts = [productVersion, typeName, ...labels].join(' ');
    this.format = createHash('sha256').update(parts).digest('base64').slice(0, 8);
  }

  read(object: KubeObject): Attributes {
    const { metadata } = object;
    return {
      namespace: this.strings.get(metadata.namespace ?? ''),
      name: metadata.name ?? '',
      uid: metadata.uid,
      labels: metadata.labels && this.interned({ ...metadata.labels }),
      fields: this.fields((at) => this.selectable[at]![1](object)),
      lifetime: lifetimeOf(metadata),
    };
  }

  /** Returns undefined for attributes that are too large for a summary. */
  summarize({ namespace, name, uid, labels, fields, lifetime }: Attributes): Buffer | undefined {
    const values = this.selectable.map(([label]) => fields[label]!);
    const summary: Summary = [this.format, namespace, name, uid ?? 0, labels ?? 0, values, lifetime ?? 0];
    const bytes = encodeJson(summary);
    return bytes.length <= summaryBytesMax ? bytes : undefined;
  }

  /** Returns undefined for a summary in another format. */
  readSummary(bytes: Uint8Array): Attributes | undefined {
    const [format, namespace, name, uid, labels, values, lifetime] = parseJson(bytes) as unknown as Summary;
    if (format !== this.format) return undefined;
    return {
      namespace: this.strings.get(namespace),
      name,
      uid: uid === 0 ? undefined : uid,
      labels: labels === 0 ? undefined : this.interned(labels),
      fields: this.fields((at) => values[at]!),
      lifetime: lifetime === 0 ? undefined : lifetime,
    };
  }

  private fields(valueOf: (at: number) => string): Record<string, string> {
    const fields: Record<string, string> = { ...this.emptyFields };
    for (let at = 0; at < this.selectable.length; at++) fields[this.selectable[at]![0]] = this.strings.get(valueOf(at));
    return fields;
  }

  private interned(texts: Record<string, string>): Record<string, string> {
    for (const name in texts) texts[name] = this.strings.get(texts[name]!);
    return texts;
  }
}

/** For each resource. */
const internedMax = 16_384;

function lifetimeOf({ ownerReferences, finalizers, deletionTimestamp }: ObjectMeta): Lifetime | undefined {
  const isDeleting = typeof deletionTimestamp === 'string';
  if (!isDeleting && !ownerReferences?.length && !finalizers?.length) return undefined;
  return { owners: ownerReferences ?? [], finalizers: finalizers ?? [], isDeleting };
}

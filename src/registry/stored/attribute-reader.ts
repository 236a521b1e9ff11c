import { createHash } from 'node:crypto';
import type { Attributes, Lifetime } from '../../cache/encoded-object.js';
import { encodeJson, parseJson, stringifyJson } from '../../codec/json.js';
import { productVersion } from '../../config/version.js';
import type { KubeObject, ObjectMeta } from '../../machinery/kube-object.js';
import { InternedStrings } from '../../std/interned-strings.js';
import { RecentValues } from '../../std/recent-values.js';

type SelectableFields = Readonly<Record<string, (object: KubeObject) => string>>;

/**
 * A summary is text: the format and a part that is equal for many objects, as JSON; the values of the selectable fields, as
 * JSON; and the uid, each after a line feed. The name is the end of the key.
 */
type Shared = readonly [namespace: string, labels: Record<string, string> | 0, lifetime: Lifetime | 0];
/** The values of selectable fields, in their order; 0 stands for the name. */
type Values = readonly (string | 0)[];

/** Summaries of large metadata are not kept: they would cost more than they save. */
const summaryBytesMax = 16 * 1024;

/**
 * Reads the attributes of objects of one kind, and keeps them in summaries beside stored values. Equal texts of many objects
 * are one string.
 */
export class AttributeReader {
  private readonly strings = new InternedStrings(internedMax);
  private readonly shared = new RecentValues(internedMax, (text) => this.parseShared(text));
  private readonly values = new RecentValues(internedMax, (text) => this.parseValues(text));
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
    const parts = [productVersion, layout, typeName, ...labels].join(' ');
    this.format = createHash('sha256').update(parts).digest('base64').slice(0, 8);
  }

  read(object: KubeObject): Attributes {
    const { metadata } = object;
    return {
      namespace: this.strings.get(metadata.namespace ?? ''),
      name: metadata.name ?? '',
      uid: metadata.uid,
      labels: metadata.labels && this.interned({ ...metadata.labels }),
      fields: this.fields((at) => this.strings.get(this.selectable[at]![1](object))),
      lifetime: lifetimeOf(metadata),
    };
  }

  /** Returns undefined for attributes that are too large for a summary, or have no uid. */
  summarize({ namespace, name, uid, labels, fields, lifetime }: Attributes): Buffer | undefined {
    if (!uid) return undefined;
    const shared: Shared = [namespace, labels ?? 0, lifetime ?? 0];
    const values: Values = this.selectable.map(([label]) => (fields[label] === name ? 0 : fields[label]!));
    const bytes = Buffer.from(`${this.format}${stringifyJson(shared)}\n${stringifyJson(values)}\n${uid}`);
    return bytes.length <= summaryBytesMax ? bytes : undefined;
  }

  /** Returns undefined for a summary in another format. */
  readSummary(summary: Uint8Array, key: string): Attributes | undefined {
    const bytes = Buffer.from(summary.buffer, summary.byteOffset, summary.length);
    const sharedEnd = bytes.indexOf(lineFeed);
    const valuesEnd = bytes.indexOf(lineFeed, sharedEnd + 1);
    if (valuesEnd < 0 || bytes.toString('latin1', 0, this.format.length) !== this.format) return undefined;
    const { namespace, labels, lifetime } = this.shared.get(bytes.toString('utf8', this.format.length, sharedEnd));
    const values = this.values.get(bytes.toString('utf8', sharedEnd + 1, valuesEnd));
    const name = key.slice(key.lastIndexOf('/') + 1);
    const uid = bytes.toString('utf8', valuesEnd + 1);
    return {
      namespace,
      name,
      uid,
      labels,
      fields: this.fields((at) => (values[at] === 0 ? name : values[at]!)),
      lifetime,
    };
  }

  private parseShared(text: string): Pick<Attributes, 'namespace' | 'labels' | 'lifetime'> {
    const [namespace, labels, lifetime] = parseJson(Buffer.from(text)) as unknown as Shared;
    return {
      namespace: this.strings.get(namespace),
      labels: labels === 0 ? undefined : this.interned(labels),
      lifetime: lifetime === 0 ? undefined : lifetime,
    };
  }

  private parseValues(text: string): Values {
    return (parseJson(Buffer.from(text)) as unknown as Values).map((value) => value && this.strings.get(value));
  }

  private fields(valueOf: (at: number) => string): Record<string, string> {
    const fields: Record<string, string> = { ...this.emptyFields };
    for (let at = 0; at < this.selectable.length; at++) fields[this.selectable[at]![0]] = valueOf(at);
    return fields;
  }

  private interned(texts: Record<string, string>): Record<string, string> {
    for (const name in texts) texts[name] = this.strings.get(texts[name]!);
    return texts;
  }
}

/** For each resource. */
const internedMax = 16_384;
const layout = 2;
const lineFeed = 10;

function lifetimeOf({ ownerReferences, finalizers, deletionTimestamp }: ObjectMeta): Lifetime | undefined {
  const isDeleting = typeof deletionTimestamp === 'string';
  if (!isDeleting && !ownerReferences?.length && !finalizers?.length) return undefined;
  return { owners: ownerReferences ?? [], finalizers: finalizers ?? [], isDeleting };
}

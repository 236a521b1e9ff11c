import { createHash } from 'node:crypto';
import type { Attributes, Lifetime } from '../../cache/encoded-object.js';
import { decodeJson, encodeJson, parseJson, stringifyJson } from '../../codec/json.js';
import { productVersion } from '../../config/version.js';
import type { KubeObject, ObjectMeta } from '../../machinery/kube-object.js';
import { inOnePiece } from '../../std/in-one-piece.js';
import { InternedStrings } from '../../std/interned-strings.js';
import { RecentValues } from '../../std/recent-values.js';

type SelectableFields = Readonly<Record<string, (object: KubeObject) => string>>;

/**
 * A summary has the format in 6 bytes; in 2 bytes each the lengths of the uid and the labels, in UTF-16 units, and of the text,
 * in bytes; the text, which is the uid and, as JSON or empty if the object has none, the labels and the lifetime; and the values
 * of the selectable fields, as JSON. Namespace and name are the end of the key.
 */
type Values = readonly (string | typeof sameAsName)[];
const sameAsName = 0;

/** Summaries of large metadata are not kept: they would cost more than they save. */
const summaryBytesMax = 16 * 1024;

/**
 * Reads the attributes of objects of one kind, and keeps them in summaries beside stored values. Equal texts of many objects
 * are one string.
 */
export class AttributeReader {
  private readonly strings = new InternedStrings(internedMax);
  private readonly known: KnownTexts = {
    labels: new RecentValues(internedMax, (text) => this.interned(parseText<Record<string, string>>(text))),
    lifetimes: new RecentValues(internedMax, (text) => parseText<Lifetime>(text)),
  };
  private readonly values = new RecentValues(valuesMax, (text) => this.parseValues(text));
  private readonly selectable: readonly (readonly [label: string, read: (object: KubeObject) => string])[];
  private readonly emptyFields: Readonly<Record<string, string>>;
  /** Summaries of other versions of this program, types or fields are not read: it may check values otherwise. */
  private readonly format: number;

  constructor(
    selectableFields: SelectableFields,
    typeName: string,
    private readonly isNamespaced: boolean,
  ) {
    this.selectable = Object.entries(selectableFields);
    const labels = this.selectable.map(([label]) => label);
    // Decoded objects have room for exactly their properties, and so have copies.
    this.emptyFields = parseJson(encodeJson(Object.fromEntries(labels.map((label) => [label, ''])))) as Record<
      string,
      string
    >;
    const parts = [productVersion, layout, typeName, ...labels].join(' ');
    this.format = createHash('sha256').update(parts).digest().readUIntBE(0, formatBytes);
  }

  /** Keeps labels and lifetime as text, since V8 would visit each string of the objects that they are. */
  read(object: KubeObject): TextAttributes {
    const { metadata } = object;
    const { name = '', uid = '', labels } = metadata;
    const lifetime = lifetimeOf(metadata);
    const [labelsText, lifetimeText] = [labels ? stringifyJson(labels) : '', lifetime ? stringifyJson(lifetime) : ''];
    const names = { namespace: this.strings.get(metadata.namespace ?? ''), name };
    const fields = this.readFields(object);
    const text = inOnePiece(`${uid}${labelsText}${lifetimeText}`);
    return this.readTexts(names, { fields, text, uidEnd: uid.length, labelsEnd: uid.length + labelsText.length });
  }

  /** Returns undefined for attributes that are too large for a summary, or have no uid. */
  summarize({ name, fields, text, uidEnd, labelsEnd }: TextAttributes): Buffer | undefined {
    if (uidEnd === 0) return undefined;
    const kept = Buffer.from(text);
    const rest = Buffer.from(this.valuesText(name, (label) => fields[label]!));
    if (kept.length + rest.length > summaryBytesMax) return undefined;
    const head = Buffer.alloc(headBytes);
    head.writeUIntBE(this.format, 0, formatBytes);
    head.writeUInt16BE(uidEnd, formatBytes);
    head.writeUInt16BE(labelsEnd - uidEnd, formatBytes + 2);
    head.writeUInt16BE(kept.length, formatBytes + 4);
    return Buffer.concat([head, kept, rest]);
  }

  /** Returns undefined for a summary in another format. */
  readSummary(summary: Uint8Array, key: string): Attributes | undefined {
    const bytes = Buffer.isBuffer(summary) ? summary : Buffer.from(summary.buffer, summary.byteOffset, summary.length);
    if (bytes.length < headBytes || bytes.readUIntBE(0, formatBytes) !== this.format) return undefined;
    const uidEnd = bytes.readUInt16BE(formatBytes);
    const keptEnd = headBytes + bytes.readUInt16BE(formatBytes + 4);
    const names = this.namesOf(key);
    return this.readTexts(names, {
      fields: this.fieldsWith(bytes.toString('utf8', keptEnd), names.name),
      text: bytes.toString('utf8', headBytes, keptEnd),
      uidEnd,
      labelsEnd: uidEnd + bytes.readUInt16BE(formatBytes + 2),
    });
  }

  /** Namespace and name of a key; of other keys than those of the kind, something else. */
  namesOf(key: string): NamesOfKey {
    const nameStart = key.lastIndexOf('/') + 1;
    const namespace = this.isNamespaced ? key.slice(key.lastIndexOf('/', nameStart - 2) + 1, nameStart - 1) : '';
    return { namespace: this.strings.get(namespace), name: key.slice(nameStart) };
  }

  /** Returns attributes that parse the texts of labels and lifetime when somebody asks for them. */
  readTexts({ namespace, name }: NamesOfKey, { fields, text, uidEnd, labelsEnd }: AttributeTexts): TextAttributes {
    return new TextAttributes(namespace, name, fields, text, uidEnd, labelsEnd, this.known);
  }

  /** Returns the fields of an object, which others with equal ones share. */
  readFields(object: KubeObject): Attributes['fields'] {
    const { name = '' } = object.metadata;
    return this.fieldsWith(
      this.valuesText(name, (_, read) => read(object)),
      name,
    );
  }

  /** Returns the values of the selectable fields as a summary has them. */
  private valuesText(name: string, valueOf: (label: string, read: (object: KubeObject) => string) => string): string {
    const values: Values = this.selectable.map(([label, read]) => {
      const value = valueOf(label, read);
      return value === name ? sameAsName : value;
    });
    return stringifyJson(values);
  }

  private fieldsWith(valuesText: string, name: string): Attributes['fields'] {
    const { values, fields } = this.values.get(valuesText);
    return fields ?? this.fields((at) => (values[at] === sameAsName ? name : values[at]!));
  }

  /** Returns also the fields of all objects with these values, unless some are the name. */
  private parseValues(text: string): { readonly values: Values; readonly fields: Attributes['fields'] | undefined } {
    const values = parseText<Values>(text).map((value) => value && this.strings.get(value));
    const fields = values.includes(sameAsName) ? undefined : this.fields((at) => values[at] as string);
    return { values, fields };
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

/** Attributes whose labels and lifetime are parsed when they are first asked for: those of most objects never are. */
export class TextAttributes implements Attributes {
  private readLabels: Attributes['labels'] = undefined;
  private readLifetime: Lifetime | undefined = undefined;

  constructor(
    readonly namespace: string,
    readonly name: string,
    readonly fields: Attributes['fields'],
    /** The uid, and the JSON of the labels and the lifetime. */
    readonly text: string,
    readonly uidEnd: number,
    readonly labelsEnd: number,
    private readonly known: KnownTexts,
  ) {}

  get uid(): string | undefined {
    return this.uidEnd === 0 ? undefined : this.text.slice(0, this.uidEnd);
  }

  get labels(): Attributes['labels'] {
    if (this.labelsEnd === this.uidEnd) return undefined;
    return (this.readLabels ??= this.known.labels.get(this.text.slice(this.uidEnd, this.labelsEnd)));
  }

  get lifetime(): Lifetime | undefined {
    if (this.labelsEnd === this.text.length) return undefined;
    return (this.readLifetime ??= this.known.lifetimes.get(this.text.slice(this.labelsEnd)));
  }
}

interface NamesOfKey {
  readonly namespace: string;
  readonly name: string;
}

interface AttributeTexts {
  readonly fields: Attributes['fields'];
  /** The uid, and as JSON or empty the labels and the lifetime. */
  readonly text: string;
  readonly uidEnd: number;
  readonly labelsEnd: number;
}

interface KnownTexts {
  readonly labels: RecentValues<NonNullable<Attributes['labels']>>;
  readonly lifetimes: RecentValues<Lifetime>;
}

const parseText = <T>(text: string) => decodeJson(text) as unknown as T;

/** For each resource. */
const internedMax = 16_384;
const valuesMax = 4096;
const layout = 3;
const formatBytes = 6;
const headBytes = formatBytes + 3 * 2;

function lifetimeOf({ ownerReferences, finalizers, deletionTimestamp }: ObjectMeta): Lifetime | undefined {
  const isDeleting = typeof deletionTimestamp === 'string';
  if (!isDeleting && !ownerReferences?.length && !finalizers?.length) return undefined;
  return { owners: ownerReferences ?? [], finalizers: finalizers ?? [], isDeleting };
}

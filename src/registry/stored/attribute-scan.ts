import type { Attributes } from '../../cache/encoded-object.js';
import { decodeJson } from '../../codec/json.js';
import type { JsonObject, KubeObject } from '../../machinery/kube-object.js';
import type { StructType } from '../../machinery/type-model.js';
import { AsciiScratch } from '../../std/ascii-scratch.js';
import { RecentValues } from '../../std/recent-values.js';
import { FieldScan } from '../../typed/field-scan.js';
import type { AttributeReader } from './attribute-reader.js';

interface Kind {
  readonly type: StructType;
  /** The labels of the selectable fields. */
  readonly labels: readonly string[];
  readonly isNamespaced: boolean;
}

/**
 * Finds the attributes of objects in their JSON without parsing it (ADR 079). Returns none for whatever is unusual, which is
 * then parsed.
 */
export class AttributeScan {
  /** The fields of objects with equal values, by the JSON of these values. */
  private readonly fields = new RecentValues(fieldsMax, (text) => this.parseFields(text));

  private constructor(
    private readonly reader: AttributeReader,
    private readonly scan: FieldScan,
    /** Of the selectable fields, which `scan` numbers after those of the metadata. */
    private readonly paths: readonly (readonly string[])[],
    private readonly isNamespaced: boolean,
  ) {}

  /** Returns undefined for a kind whose selectable fields are not named by the path of what they read. */
  static of(reader: AttributeReader, { type, labels, isNamespaced }: Kind): AttributeScan | undefined {
    const paths = labels.map((label) => label.split('.'));
    const scan = FieldScan.of(type, [...metadataFields.map((field) => ['metadata', field]), ...paths]);
    return scan && new AttributeScan(reader, scan, paths, isNamespaced);
  }

  /** Returns undefined if the bytes are not an object of the type with the names in the key, or are unusual. */
  read(bytes: Buffer, key: string): Attributes | undefined {
    const { scan, reader } = this;
    if (!scan.scan(bytes)) return undefined;
    const names = reader.namesOf(key);
    if (!this.isText(bytes, numbers.name, names.name)) return undefined;
    if (this.isNamespaced && !this.isText(bytes, numbers.namespace, names.namespace)) return undefined;
    if (!this.isNamespaced && scan.start(numbers.namespace) >= 0) return undefined;
    const fields = this.readFields(bytes);
    return fields && this.readTexts(bytes, names, fields);
  }

  private readTexts(bytes: Buffer, names: Names, fields: Attributes['fields']): Attributes | undefined {
    const { scan } = this;
    const start = scan.start(numbers.uid);
    const end = scan.end(numbers.uid);
    scratch.clear();
    if (start < 0 || end - start === 2 || !scratch.add(bytes, start + 1, end - 1)) return undefined;
    const uidEnd = scratch.length;
    if (!this.add(bytes, numbers.labels)) return undefined;
    const labelsEnd = scratch.length;
    if (this.hasLifetime() && !this.addLifetime(bytes)) return undefined;
    const text = scratch.toString();
    // Escapes may stand in the JSON of labels and owners, but not in a uid.
    if (text.lastIndexOf('\\', uidEnd - 1) >= 0) return undefined;
    return this.reader.readTexts(names, { fields, text, uidEnd, labelsEnd });
  }

  private hasLifetime(): boolean {
    const { ownerReferences, finalizers, deletionTimestamp } = numbers;
    return this.hasItems(ownerReferences) || this.hasItems(finalizers) || this.scan.start(deletionTimestamp) >= 0;
  }

  /** True for a list that is not `[]`. */
  private hasItems(number: number): boolean {
    return this.scan.end(number) - this.scan.start(number) > 2;
  }

  private addLifetime(bytes: Buffer): boolean {
    const isDeleting = this.scan.start(numbers.deletionTimestamp) >= 0;
    return (
      scratch.addText('{"owners":') &&
      this.addList(bytes, numbers.ownerReferences) &&
      scratch.addText(',"finalizers":') &&
      this.addList(bytes, numbers.finalizers) &&
      scratch.addText(`,"isDeleting":${isDeleting}}`)
    );
  }

  private addList(bytes: Buffer, number: number): boolean {
    return this.scan.start(number) < 0 ? scratch.addText('[]') : this.add(bytes, number);
  }

  /** Adds the JSON of a value, which is empty if it is absent. */
  private add(bytes: Buffer, number: number): boolean {
    return scratch.add(bytes, this.scan.start(number), this.scan.end(number));
  }

  private isText(bytes: Buffer, number: number, text: string): boolean {
    const start = this.scan.start(number) + 1;
    if (start === 0 || this.scan.end(number) - 1 - start !== text.length) return false;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (bytes[start + at] !== code || code > 0x7f || code === backslash) return false;
    }
    return true;
  }

  private readFields(bytes: Buffer): Attributes['fields'] | undefined {
    scratch.clear();
    for (let at = 0; at < this.paths.length; at++) {
      if (!this.add(bytes, metadataFields.length + at) || !scratch.addText(separator)) return undefined;
    }
    return this.fields.get(scratch.toString());
  }

  /** Reads the fields of an object that has nothing else. */
  private parseFields(text: string): Attributes['fields'] {
    const object: JsonObject = { metadata: {} };
    const values = text.split(separator);
    for (const [at, path] of this.paths.entries()) {
      if (values[at] === '') continue;
      let within = object;
      for (const name of path.slice(0, -1)) within = (within[name] ??= {}) as JsonObject;
      within[path.at(-1)!] = decodeJson(values[at]!);
    }
    return this.reader.readFields(object as unknown as KubeObject);
  }
}

type Names = ReturnType<AttributeReader['namesOf']>;

const scratch = new AsciiScratch();
/** JSON has no such byte. */
const separator = '\0';
const backslash = 0x5c;
/** For each resource. */
const fieldsMax = 16_384;

const metadataFields = [
  'name',
  'namespace',
  'uid',
  'labels',
  'ownerReferences',
  'finalizers',
  'deletionTimestamp',
] as const;
const numbers = Object.fromEntries(metadataFields.map((field, number) => [field, number])) as Readonly<
  Record<(typeof metadataFields)[number], number>
>;

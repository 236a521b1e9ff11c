import type { JsonObject, JsonValue } from '../../../machinery/kube-object.js';
import type { SchemaNode } from './schema-node.js';

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Paths are for people; fewer than these are ever told, and less text: a name may be as long as a body. */
const unknownMax = 1000;
const pathCharactersMax = 10_000_000;

interface Options {
  /** The value is an object of the API: what all of those have is known. */
  readonly isRoot?: boolean;
  /** Is told the paths of what was taken out. */
  readonly unknown?: string[] | undefined;
}

/** The value without fields that its schema does not know: a copy where it had some, else the value itself. */
export function pruned(value: JsonValue, node: SchemaNode, { isRoot = false, unknown }: Options = {}): JsonValue {
  return new Pruner(unknown).value(value, node, node.keepsUnknown, isRoot || node.isEmbedded);
}

class Pruner {
  private readonly path: string[] = [];
  private characters = 0;

  constructor(private readonly unknown: string[] | undefined) {}

  /** Without a schema, objects know no fields. */
  value(value: JsonValue, node: SchemaNode | undefined, keepsUnknown: boolean, isObject: boolean): JsonValue {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return this.list(value, node, keepsUnknown);
    let copy: JsonObject | undefined;
    for (const field in value) {
      if (isObject && metaFields.has(field)) continue;
      const inner = value[field]!;
      const known = node?.properties.get(field) ?? node?.additional;
      if (known === undefined && node?.others === undefined) {
        if (keepsUnknown) continue;
        delete (copy ??= { ...value })[field];
        this.found(field);
        continue;
      }
      if (typeof inner !== 'object' || inner === null) continue;
      this.path.push(this.path.length === 0 ? field : `.${field}`);
      const kept = this.value(inner, known, known?.keepsUnknown ?? false, known?.isEmbedded ?? false);
      this.path.pop();
      if (kept !== inner) (copy ??= { ...value })[field] = kept;
    }
    return copy ?? value;
  }

  private list(list: JsonValue[], node: SchemaNode | undefined, keepsUnknown: boolean): JsonValue[] {
    const items = node?.items;
    if (keepsUnknown && !items) return list;
    let copy: JsonValue[] | undefined;
    for (let index = 0; index < list.length; index++) {
      const item = list[index]!;
      if (typeof item !== 'object' || item === null) continue;
      this.path.push(`[${index}]`);
      const kept = this.value(item, items, keepsUnknown || (items?.keepsUnknown ?? false), items?.isEmbedded ?? false);
      this.path.pop();
      if (kept !== item) (copy ??= [...list])[index] = kept;
    }
    return copy ?? list;
  }

  private found(field: string): void {
    if (!this.unknown || this.unknown.length >= unknownMax || this.characters >= pathCharactersMax) return;
    const path = `${this.path.join('')}${this.path.length === 0 ? '' : '.'}${field}`;
    this.characters += path.length;
    this.unknown.push(path);
  }
}

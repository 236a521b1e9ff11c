import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import type { SchemaNode } from './schema-node.js';

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Limits on the unknown fields that are reported, and on the characters of their paths: a field name may be as long as
 * a body.
 */
const unknownMax = 1000;
const pathCharactersMax = 10_000_000;

interface Options {
  /** The value is a whole object: apiVersion, kind and metadata are known. */
  readonly isRoot?: boolean;
  /** Receives the paths of the fields that were removed. */
  readonly unknown?: string[] | undefined;
}

/** Removes the fields that the schema does not have. Returns a copy if there are any, else the value itself. */
export function pruned(value: JsonValue, node: SchemaNode, { isRoot = false, unknown }: Options = {}): JsonValue {
  return new Pruner(unknown).value(value, node, node.keepsUnknown, isRoot || node.isEmbedded);
}

class Pruner {
  private readonly path: string[] = [];
  private characters = 0;

  constructor(private readonly unknown: string[] | undefined) {}

  /** Without `node`, all fields of an object are unknown. */
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

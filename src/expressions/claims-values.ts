import type { DeclaredType } from '../cel/declared/declared-type.js';
import { unescapeName } from '../cel/declared/escaping.js';
import { mapOf, types, type CelType } from '../cel/types.js';
import { int } from '../cel/values/numbers.js';
import { CelError, Double, ListView, MapValue, type Value } from '../cel/values/value.js';
import { spend } from '../cel/work.js';

/**
 * Claims of a token as values of CEL, read in place. They differ from those of objects in two ways, as in the reference:
 * every number is a double, and a claim whose name is no identifier is found by its escaped name at every depth
 * (`claims.kubernetes__dot__io`).
 */
class ClaimsMap extends MapValue {
  constructor(private readonly raw: Readonly<Record<string, unknown>>) {
    super();
  }
  override get size(): number {
    return this.names().length;
  }
  override keys(): Iterable<Value> {
    return this.names();
  }
  override find(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined;
    const name = unescapeName(key) ?? key;
    return Object.hasOwn(this.raw, name) ? claimValue(this.raw[name]) : undefined;
  }
  override equals(other: Value): Value | undefined {
    return other instanceof ClaimsMap && other.raw === this.raw ? true : undefined;
  }
  private names(): string[] {
    const names = Object.keys(this.raw);
    spend(5 + names.length * 6);
    return names;
  }
}

class ClaimsList extends ListView {
  constructor(private readonly raw: readonly unknown[]) {
    super();
  }
  override get size(): number {
    return this.raw.length;
  }
  override at(index: number): Value {
    return claimValue(this.raw[index]);
  }
}

function claimValue(raw: unknown): Value {
  switch (typeof raw) {
    case 'string':
    case 'boolean':
      return raw;
    case 'number':
      return new Double(raw);
    case 'bigint':
      return new Double(Number(int(raw)));
    case 'object':
      if (raw === null) return null;
      return Array.isArray(raw) ? new ClaimsList(raw) : new ClaimsMap(raw as Readonly<Record<string, unknown>>);
    default:
      return new CelError(`unsupported conversion to ref.Val: (${typeof raw})`);
  }
}

/** A map whose entries are found by escaped names, too; its values are plain JSON. */
export function claimsMap(values: CelType): DeclaredType {
  return {
    type: mapOf(types.string, values),
    maxElements: Number.MAX_SAFE_INTEGER,
    minSerializedSize: 2,
    read: claimValue,
  };
}

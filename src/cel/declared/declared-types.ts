import type { TypeProvider } from '../check/declarations.js';
import type { SizeEstimator } from '../cost/costs.js';
import type { Evaluate } from '../evaluate/frame.js';
import type { CelType } from '../types.js';
import type { Value } from '../values/value.js';
import { CelError } from '../values/value.js';
import type { DeclaredType } from './declared-type.js';
import { isReserved } from './escaping.js';
import { fromNative } from './json-values.js';

/** The declared types of the variables of an environment: their structs, sizes, and how their values are read. */
export class DeclaredTypes implements TypeProvider {
  private readonly structs = new Map<string, DeclaredType>();
  private readonly loaders = new Map<string, Evaluate>();

  constructor(
    private readonly variables: ReadonlyMap<string, DeclaredType>,
    private readonly others: TypeProvider | undefined,
  ) {
    for (const type of variables.values()) this.register(type);
  }

  private register(declared: DeclaredType): void {
    if (declared.elements) this.register(declared.elements);
    if (!declared.fields || this.structs.has(declared.type.name)) return;
    this.structs.set(declared.type.name, declared);
    for (const field of declared.fields.values()) this.register(field);
  }

  findStruct(name: string): CelType | undefined {
    return this.structs.get(name)?.type ?? this.others?.findStruct(name);
  }

  findField(struct: string, field: string): CelType | undefined {
    const fields = this.structs.get(struct)?.fields;
    if (!fields) return this.others?.findField(struct, field);
    return (fields.get(field) ?? (isReserved(field) ? fields.get(`__${field}__`) : undefined))?.type;
  }

  create(struct: string, fields: ReadonlyMap<string, Value>): Value {
    return this.others?.create?.(struct, fields) ?? new CelError(`unknown type '${struct}'`);
  }

  /** Reads a variable, once in an evaluation. */
  loader(name: string, type: CelType | undefined): Evaluate {
    let loader = this.loaders.get(name);
    if (loader) return loader;
    const index = this.loaders.size;
    const declared = this.variables.get(name);
    const missing = new CelError(`no such attribute(s): ${name}`);
    // Bindings may be properties of a prototype, but not of that of all objects.
    const isBound = name in Object.prototype ? (from: object) => Object.hasOwn(from, name) : () => true;
    loader = (frame) => {
      const known = frame.loaded[index];
      if (known !== undefined) return known;
      const raw = isBound(frame.bindings) ? frame.bindings[name] : undefined;
      if (raw === undefined) return missing;
      const value = declared ? declared.read(raw) : fromNative(raw, type);
      frame.loaded[index] = value;
      return value;
    };
    this.loaders.set(name, loader);
    return loader;
  }

  /** The sizes that the types of variables declare. */
  readonly sizes: SizeEstimator = ({ path }) => {
    if (path.length === 0) return undefined;
    let at = this.variables.get(path[0]!);
    for (let index = 1; at && index < path.length; index++) at = step(at, path[index]!);
    return at && { min: 0n, max: BigInt(at.maxElements) };
  };
}

function step(declared: DeclaredType, name: string): DeclaredType | undefined {
  if (name === '@items' || name === '@values') return declared.elements;
  return name === '@keys' ? declared.keys : declared.fields?.get(name);
}

import type { CelType } from '../types.js';
import type { Value } from '../values/value.js';

/** The function of a call, with its target as the first argument. Arguments are never errors, unless `isNonStrict`. */
export type Implementation = (...args: Value[]) => Value;

export interface Overload {
  /** The name that costs are found by, as the reference has it: `string_to_int`. */
  readonly id: string;
  /** True for `target.f(args)`; the target is the first parameter. */
  readonly isMember: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
  /** undefined if the function has one for all its overloads. */
  readonly impl?: Implementation;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** The implementation of all overloads, which checks the types of its arguments itself. */
  readonly impl?: Implementation;
  /** True if `impl` is called for errors, too. */
  readonly isNonStrict?: boolean;
  /** True if overloads look at the types of their arguments themselves. */
  readonly isUnguarded?: boolean;
  /** Returns the implementation for a constant second argument, or the error of that argument. */
  readonly withPattern?: (pattern: string) => Implementation | string;
}

/** The member overload `params[0].name(params…)`. */
export function member(id: string, params: readonly CelType[], result: CelType, impl?: Implementation): Overload {
  return { id, isMember: true, params, result, ...(impl && { impl }) };
}
/** The overload `name(params…)`. */
export function overload(id: string, params: readonly CelType[], result: CelType, impl?: Implementation): Overload {
  return { id, isMember: false, params, result, ...(impl && { impl }) };
}
export function declare(name: string, ...overloads: Overload[]): FunctionDeclaration {
  return { name, overloads };
}
/** A function that does the same for all its overloads. */
export function declareOne(name: string, impl: Implementation, ...overloads: Overload[]): FunctionDeclaration {
  return { name, overloads, impl };
}

/** Adds the overloads of functions that have the same name. */
export function mergeFunctions(functions: Iterable<FunctionDeclaration>): Map<string, FunctionDeclaration> {
  const merged = new Map<string, FunctionDeclaration>();
  for (const declared of functions) {
    const known = merged.get(declared.name);
    if (!known) {
      merged.set(declared.name, declared);
      continue;
    }
    const ids = new Set(declared.overloads.map(({ id }) => id));
    const overloads = [...known.overloads.filter(({ id }) => !ids.has(id)), ...declared.overloads];
    merged.set(declared.name, { ...known, ...declared, overloads });
  }
  return merged;
}

/** Declares the structured types of variables, and makes values of them. */
export interface TypeProvider {
  /** The struct of the name, if there is one. */
  findStruct(name: string): CelType | undefined;
  /** The type of a field. */
  findField(struct: string, field: string): CelType | undefined;
  /** The value of `Name{field: value}`. */
  create?(struct: string, fields: ReadonlyMap<string, Value>): Value;
}

/** A message whose literals are values of another type: `google.protobuf.Int32Value{value: 1}` is an int. */
export interface MessageType {
  readonly name: string;
  /** The type of its literals. */
  readonly type: CelType;
  readonly fields: ReadonlyMap<string, CelType>;
  create(fields: ReadonlyMap<string, Value>): Value;
}

/** All that an expression may name. */
export interface Declarations {
  readonly variables: ReadonlyMap<string, CelType>;
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  /** Types by the name under which expressions know them. */
  readonly typeNames: ReadonlyMap<string, CelType>;
  readonly provider: TypeProvider | undefined;
  readonly messages: ReadonlyMap<string, MessageType>;
  readonly constants: ReadonlyMap<string, Value>;
  /** True if an int may be compared with a double. */
  readonly comparesAcrossTypes: boolean;
}

import { spend } from './work.js';

/**
 * The types of CEL: a kind, a name, and parameters (`list(string)`). Types are immutable; two are the same when kind,
 * name and parameters are.
 */
export type TypeKind =
  | 'any'
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'int'
  | 'list'
  | 'map'
  | 'null'
  | 'opaque'
  | 'param'
  | 'string'
  | 'struct'
  | 'timestamp'
  | 'type'
  | 'uint'
  | 'unspecified';

export class CelType {
  /** The number of names in the type as a text. Types share their parameters, so it can exceed those in memory by far. */
  readonly size: number;
  /** True if a type parameter is part of the type. */
  readonly isGeneric: boolean;

  constructor(
    readonly kind: TypeKind,
    /** The name as `type(x)` tells it: `google.protobuf.Duration`, `list`, `kubernetes.Quantity`. */
    readonly name: string,
    readonly params: readonly CelType[] = [],
    /** True for a primitive that may also be null (a wrapper). */
    readonly isWrapper = false,
  ) {
    this.size = params.reduce((sum, param) => sum + param.size, 1);
    this.isGeneric = kind === 'param' || params.some((param) => param.isGeneric);
  }

  get isDyn(): boolean {
    return this.kind === 'dyn' || this.kind === 'any';
  }
  get isOptional(): boolean {
    return this.kind === 'opaque' && this.name === 'optional_type';
  }

  /** True if both are the same type; type parameters need the same name if `exact`. */
  equals(other: CelType, exact = true): boolean {
    if (this === other) return true;
    if (this.size !== other.size) return false;
    spend(1);
    if (this.kind !== other.kind || this.params.length !== other.params.length) return false;
    if ((exact || this.kind !== 'param') && this.name !== other.name) return false;
    return this.params.every((param, index) => param.equals(other.params[index]!, exact));
  }

  /** The name of the type in the AST's words: `google.protobuf.Timestamp`, `list(int)`, `wrapper(int)`. */
  toString(): string {
    const name = this.isWrapper ? `wrapper(${this.name})` : this.name;
    if (this.kind === 'param') return `<${name}>`;
    return this.params.length === 0 ? name : `${name}(${this.params.map(String).join(', ')})`;
  }
}

export const types = {
  any: new CelType('any', 'google.protobuf.Any'),
  bool: new CelType('bool', 'bool'),
  bytes: new CelType('bytes', 'bytes'),
  double: new CelType('double', 'double'),
  duration: new CelType('duration', 'google.protobuf.Duration'),
  dyn: new CelType('dyn', 'dyn'),
  error: new CelType('error', 'error'),
  int: new CelType('int', 'int'),
  null: new CelType('null', 'null_type'),
  string: new CelType('string', 'string'),
  timestamp: new CelType('timestamp', 'google.protobuf.Timestamp'),
  type: new CelType('type', 'type'),
  uint: new CelType('uint', 'uint'),
  unspecified: new CelType('unspecified', ''),
} as const;

export const listOf = (element: CelType): CelType => new CelType('list', 'list', [element]);
export const mapOf = (key: CelType, value: CelType): CelType => new CelType('map', 'map', [key, value]);
export const optionalOf = (value: CelType): CelType => new CelType('opaque', 'optional_type', [value]);
export const typeOfType = (type: CelType): CelType => new CelType('type', 'type', [type]);
export const structType = (name: string): CelType => new CelType('struct', name);
export const opaqueType = (name: string, ...params: CelType[]): CelType => new CelType('opaque', name, params);
export const typeParam = (name: string): CelType => new CelType('param', name);
export const wrapperOf = (type: CelType): CelType => new CelType(type.kind, type.name, type.params, true);

/** The runtime types of containers, whose elements are not known. */
export const listType = listOf(types.dyn);
export const mapType = mapOf(types.dyn, types.dyn);
export const optionalType = optionalOf(types.dyn);

const displayNames: Partial<Record<TypeKind, string>> = {
  any: 'any',
  duration: 'duration',
  error: '!error!',
  null: 'null',
  timestamp: 'timestamp',
  unspecified: '',
};

/** The type as the checker's messages name it. */
export function formatType(type: CelType): string {
  const name = displayNames[type.kind];
  if (name !== undefined) return name;
  if (type.kind === 'param') return type.name;
  if (type.params.length === 0) return type.isWrapper ? `wrapper(${type.name})` : type.name;
  return `${type.name}(${type.params.map(formatType).join(', ')})`;
}

/** The signature of a call as the checker's messages show it: `int.(string)`, `(int, int)`. */
export function formatCall(args: readonly CelType[], isMember: boolean): string {
  const [target, ...rest] = isMember ? args : [undefined, ...args];
  return `${target ? `${formatType(target)}.` : ''}(${rest.map((type) => formatType(type!)).join(', ')})`;
}

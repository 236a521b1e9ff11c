import type { Suite } from '@bufbuild/cel-spec/testdata/conformance.js';
import { tests as conformance } from '@bufbuild/cel-spec/testdata/conformance.js';
import type { Environment } from '../../src/cel/environment.js';
import { Environment as CelEnvironment } from '../../src/cel/environment.js';
import type { FunctionDeclaration, Overload } from '../../src/cel/check/declarations.js';
import { declare, member, overload } from '../../src/cel/check/declarations.js';
import { bindingsLibrary } from '../../src/cel/libraries/bindings.js';
import { encodersLibrary } from '../../src/cel/libraries/encoders.js';
import type { Library } from '../../src/cel/libraries/library.js';
import { listsLibrary } from '../../src/cel/libraries/lists.js';
import { mathLibrary } from '../../src/cel/libraries/math.js';
import { optionalLibrary } from '../../src/cel/libraries/optional.js';
import { matchesLibrary } from '../../src/cel/libraries/regex.js';
import { setsLibrary } from '../../src/cel/libraries/sets.js';
import { standardLibrary } from '../../src/cel/libraries/standard.js';
import { stringsLibrary } from '../../src/cel/libraries/strings.js';
import { twoVariableLibrary } from '../../src/cel/libraries/two-variables.js';
import { wellKnownTypesLibrary } from '../../src/cel/libraries/well-known-types.js';
import { re2Engine } from '../../src/cel/re2-engine.js';
import {
  CelType,
  formatType,
  listOf,
  mapOf,
  opaqueType,
  optionalOf,
  typeOfType,
  typeParam,
  types,
  wrapperOf,
} from '../../src/cel/types.js';
import { elementsOf, isList } from '../../src/cel/values/lists.js';
import { BuiltMap, isMap } from '../../src/cel/values/maps.js';
import { int, isInt } from '../../src/cel/values/numbers.js';
import { compareUtf8 } from '../../src/std/compare-utf8.js';
import { formatTimestamp, parseDuration, parseTimestamp } from '../../src/cel/values/time.js';
import type { Value } from '../../src/cel/values/value.js';
import { Double, Duration, Optional, Timestamp, Uint } from '../../src/cel/values/value.js';

/** A value as the vectors write it: `{int64Value: '1'}`. */
type VectorValue = Readonly<Record<string, unknown>>;
type VectorType = Readonly<Record<string, unknown>>;

interface VectorOverload {
  readonly overloadId: string;
  readonly isInstanceFunction?: boolean;
  readonly params?: readonly VectorType[];
  readonly resultType: VectorType;
}

/** One test of the specification, in the JSON form of `cel.expr.conformance.test.SimpleTest`. */
interface Vector {
  /** `comparisons/eq_literal`. */
  readonly section: string;
  readonly name: string;
  readonly expr: string;
  /** The type that the reference implementation deduces. */
  readonly type?: string;
  readonly value?: VectorValue;
  readonly typeEnv?: readonly {
    readonly name: string;
    readonly ident?: { readonly type: VectorType };
    readonly function?: { readonly overloads: readonly VectorOverload[] };
  }[];
  readonly bindings?: Readonly<Record<string, { readonly value: VectorValue }>>;
  readonly container?: string;
  readonly disableCheck?: boolean;
  readonly checkOnly?: boolean;
  readonly evalError?: { readonly errors: readonly { readonly message: string }[] };
  readonly typedResult?: { readonly result?: VectorValue; readonly deducedType: VectorType };
}

/** All tests of the specification. */
export function conformanceVectors(): readonly Vector[] {
  const collect = (suite: Suite, path: string): Vector[] => [
    ...(suite.tests ?? []).map(({ original, type }) => ({ ...original, type, section: path }) as Vector),
    ...(suite.suites ?? []).flatMap((inner) => collect(inner, path ? `${path}/${inner.name}` : inner.name)),
  ];
  return collect(conformance, '');
}

const libraries: readonly Library[] = [
  standardLibrary,
  wellKnownTypesLibrary,
  matchesLibrary(re2Engine()),
  { name: 'comparisons of numbers', comparesAcrossTypes: true },
  optionalLibrary,
  stringsLibrary(2),
  setsLibrary,
  listsLibrary,
  twoVariableLibrary,
  mathLibrary,
  encodersLibrary,
  bindingsLibrary,
];
const withoutVariables = new CelEnvironment({ libraries });

/** Returns what is wrong with our answer to a vector, if anything. */
export function problemOf(vector: Vector): string | undefined {
  try {
    return differenceOf(vector, environmentOf(vector));
  } catch (error) {
    if (error instanceof Unsupported) return error.message;
    throw error;
  }
}
/** Thrown for what no environment of Kubernetes can declare. */
class Unsupported extends Error {}

function differenceOf(vector: Vector, environment: Environment): string | undefined {
  const compiled = environment.compile(vector.expr);
  const expectsError = vector.evalError !== undefined;
  if (!compiled.isOk) return expectsError && !lacksDeclaration(vector, compiled.message) ? undefined : compiled.message;
  const { deducedType, result } = vector.typedResult ?? {};
  if (deducedType && compiled.resultType.toString() !== celType(deducedType).toString())
    return `type ${compiled.resultType.toString()} instead of ${celType(deducedType).toString()}`;
  if (vector.type !== undefined && formatType(compiled.resultType) !== vector.type)
    return `type ${formatType(compiled.resultType)} instead of ${vector.type}`;
  if (vector.checkOnly) return undefined;
  if (compiled.program instanceof Error) return expectsError ? undefined : compiled.program.message;
  const bindings = Object.entries(vector.bindings ?? {}).map(([name, { value }]) => [name, celValue(value)] as const);
  const outcome = compiled.program.evaluate(Object.fromEntries(bindings), { costLimit: 1_000_000 });
  if (!outcome.isOk) return expectsError ? undefined : outcome.error;
  if (expectsError) return `${show(outcome.value)} instead of an error`;
  const [shown, wanted] = [show(outcome.value), show(celValue(vector.value ?? result ?? { boolValue: true }))];
  return shown === wanted ? undefined : `${shown} instead of ${wanted}`;
}

/** True if an expression was refused for a name that it should know, and not for its expected error. */
function lacksDeclaration({ evalError, disableCheck }: Vector, message: string): boolean {
  if (disableCheck || !message.includes('undeclared reference')) return false;
  return !evalError!.errors.some((error) => /undeclared|unbound/.test(error.message));
}

/** The environment of a vector, whose names are resolved without its container. */
function environmentOf({ typeEnv = [] }: Vector): Environment {
  if (typeEnv.length === 0) return withoutVariables;
  const variables: Record<string, CelType> = {};
  const functions: FunctionDeclaration[] = [];
  for (const { name, ident, function: declared } of typeEnv) {
    if (ident) variables[name] = celType(ident.type);
    else functions.push(declare(name, ...declared!.overloads.map(celOverload)));
  }
  return withoutVariables.extend({ variables, libraries: [{ name: 'functions of the vector', functions }] });
}

function celOverload({ overloadId, isInstanceFunction, params = [], resultType }: VectorOverload): Overload {
  return (isInstanceFunction ? member : overload)(overloadId, params.map(celType), celType(resultType));
}

const primitives: Readonly<Record<string, CelType>> = {
  BOOL: types.bool,
  INT64: types.int,
  UINT64: types.uint,
  DOUBLE: types.double,
  STRING: types.string,
  BYTES: types.bytes,
};
const wellKnown: Readonly<Record<string, CelType>> = {
  ANY: types.any,
  TIMESTAMP: types.timestamp,
  DURATION: types.duration,
};

function celType(type: VectorType): CelType {
  const [[kind, of]] = Object.entries(type) as [[string, unknown]];
  switch (kind) {
    case 'primitive':
      return primitives[of as string]!;
    case 'wrapper':
      return wrapperOf(primitives[of as string]!);
    case 'wellKnown':
      return wellKnown[of as string]!;
    case 'dyn':
      return types.dyn;
    case 'null':
      return types.null;
    case 'typeParam':
      return typeParam(of as string);
    case 'type':
      return typeOfType(celType(of as VectorType));
    case 'listType':
      return listOf(celType((of as { elemType: VectorType }).elemType));
    case 'mapType': {
      const { keyType, valueType } = of as { keyType: VectorType; valueType: VectorType };
      return mapOf(celType(keyType), celType(valueType));
    }
    case 'messageType':
      return messageType(of as string);
    case 'abstractType': {
      const { name, parameterTypes = [] } = of as { name: string; parameterTypes?: VectorType[] };
      const params = parameterTypes.map(celType);
      return name === 'optional_type' ? optionalOf(params[0]!) : opaqueType(name, ...params);
    }
    default:
      throw new Unsupported(`type ${kind}`);
  }
}

function messageType(name: string): CelType {
  const message = wellKnownTypesLibrary.messages!.find((known) => known.name === name);
  if (!message) throw new Unsupported(`message ${name}`);
  return message.type;
}

function celValue(value: VectorValue): Value {
  const [[kind, of]] = Object.entries(value) as [[string, unknown]];
  switch (kind) {
    case 'nullValue':
      return null;
    case 'boolValue':
    case 'stringValue':
      return of as boolean | string;
    case 'int64Value':
      return int(BigInt(of as string));
    case 'uint64Value':
      return new Uint(BigInt(of as string));
    case 'doubleValue':
      return new Double(Number(of));
    case 'bytesValue':
      return new Uint8Array(Buffer.from(of as string, 'base64'));
    case 'typeValue':
      return new CelType('type', of as string);
    case 'listValue':
      return ((of as { values?: VectorValue[] }).values ?? []).map(celValue);
    case 'mapValue': {
      const map = new BuiltMap();
      const { entries = [] } = of as { entries?: { key: VectorValue; value: VectorValue }[] };
      for (const { key, value: entry } of entries) map.set(celValue(key), celValue(entry));
      return map;
    }
    case 'objectValue':
      return messageValue(of as { '@type': string; value?: unknown });
    default:
      throw new Unsupported(`value ${kind}`);
  }
}

function messageValue({ '@type': type, value }: { '@type': string; value?: unknown }): Value {
  switch (type) {
    case 'type.googleapis.com/google.protobuf.Duration':
      return parseDuration(value as string)!;
    case 'type.googleapis.com/google.protobuf.Timestamp':
      return parseTimestamp(value as string)!;
    case 'type.googleapis.com/google.protobuf.BoolValue':
    case 'type.googleapis.com/google.protobuf.StringValue':
      return value as boolean | string;
    case 'type.googleapis.com/google.protobuf.BytesValue':
      return new Uint8Array(Buffer.from(value as string, 'base64'));
    case 'type.googleapis.com/google.protobuf.DoubleValue':
    case 'type.googleapis.com/google.protobuf.FloatValue':
      return new Double(Number(value));
    case 'type.googleapis.com/google.protobuf.Int32Value':
    case 'type.googleapis.com/google.protobuf.Int64Value':
      return int(BigInt(value as string | number));
    case 'type.googleapis.com/google.protobuf.UInt32Value':
    case 'type.googleapis.com/google.protobuf.UInt64Value':
      return new Uint(BigInt(value as string | number));
    case 'type.googleapis.com/google.protobuf.Value':
    case 'type.googleapis.com/google.protobuf.Struct':
    case 'type.googleapis.com/google.protobuf.ListValue':
      return jsonValue(value as Json);
    default:
      throw new Unsupported(`message ${type}`);
  }
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
function jsonValue(json: Json): Value {
  if (typeof json === 'number') return new Double(json);
  if (json === null || typeof json !== 'object') return json;
  if (Array.isArray(json)) return (json as readonly Json[]).map(jsonValue);
  const map = new BuiltMap();
  for (const [name, value] of Object.entries(json)) map.set(name, jsonValue(value));
  return map;
}

/** The value as a text that differs for values of different types. */
export function show(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value === 'boolean' || isInt(value)) return String(value);
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Double) return `double ${Object.is(value.value, -0) ? '-0' : value.value}`;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`;
  if (value instanceof Timestamp) return `timestamp ${formatTimestamp(value)}`;
  if (value instanceof Duration) return `duration ${value.nanos}`;
  if (value instanceof Optional) return `optional(${value.value === undefined ? '' : show(value.value)})`;
  if (value instanceof CelType) return `type ${value.name}`;
  if (isList(value)) return `[${Array.from(elementsOf(value), show).join(', ')}]`;
  if (!isMap(value)) return Object.prototype.toString.call(value);
  const entries = [...value.keys()].map((key) => `${show(key)}: ${show(value.find(key)!)}`);
  return `{${entries.sort(compareUtf8).join(', ')}}`;
}

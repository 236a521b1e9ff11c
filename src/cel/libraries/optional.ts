import { declare, declareOne, member, overload } from '../check/declarations.js';
import type { Expr } from '../syntax/ast.js';
import type { Macro, MacroFactory } from '../syntax/macros.js';
import { MacroError } from '../syntax/macros.js';
import { listOf, mapOf, optionalOf, optionalType, typeParam, types } from '../types.js';
import { display } from '../values/conversions.js';
import type { ListValue, Value } from '../values/value.js';
import {
  CelError,
  Double,
  Duration,
  Optional,
  Timestamp,
  Uint,
  noSuchOverload,
  orNoSuchOverload,
} from '../values/value.js';
import { elementsOf, listAt, listSize } from '../values/lists.js';
import { BuiltMap } from '../values/maps.js';
import { spend } from '../work.js';
import type { Library } from './library.js';

/** Values that may not be there: `a.?b`, `a[?0]`, `optional.of(x).orValue(y)`. */
const { bool, dyn, int, string } = types;
const k = typeParam('K');
const v = typeParam('V');
const optionalV = optionalOf(v);
const listV = listOf(v);
const mapKV = mapOf(k, v);

const dereference = new CelError('optional.none() dereference');
const optionalAt = (list: ListValue, index: number): Value =>
  index >= 0 && index < listSize(list) ? new Optional(listAt(list, index)) : Optional.none;

/** True for 0, '', false, null and what is empty. */
function isZero(value: Value): boolean {
  if (value === null || value === '' || value === false || value === 0) return true;
  if (value instanceof Double) return value.value === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return value.seconds === -62135596800 && value.nanos === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof BuiltMap) return value.size === 0;
  return Array.isArray(value) && value.length === 0;
}

function unwrapAll(list: ListValue): Value {
  const values: Value[] = [];
  for (const element of elementsOf(list)) {
    spend(3);
    if (!(element instanceof Optional)) return new CelError(`value ${display(element)} is not optional`);
    if (element.value !== undefined) values.push(element.value);
  }
  return values;
}

/** `target.optMap(v, body)`: the optional of what the body makes of the value, if there is one. */
function mapMacro(name: string, wrap: (factory: MacroFactory, bound: Expr) => Expr): Macro {
  return {
    name,
    argCount: 2,
    isMember: true,
    expand: (factory, target, args) => {
      const [variable, body] = args as [Expr, Expr];
      if (variable.kind !== 'ident')
        throw new MacroError(variable.id, `${name}() variable name must be a simple identifier`);
      const value = factory.memberCall('value', factory.copy(target));
      const bound = factory.bind(variable.name, value, body);
      const hasValue = factory.memberCall('hasValue', target);
      return factory.call('_?_:_', hasValue, wrap(factory, bound), factory.call('optional.none'));
    },
  };
}

const withOptional = (use: (optional: Optional) => Value) => (value: Value | undefined) =>
  value instanceof Optional ? use(value) : orNoSuchOverload(value!);

export const optionalLibrary: Library = {
  name: 'optional',
  hasOptionalSyntax: true,
  types: [optionalType],
  macros: [
    mapMacro('optMap', (factory, bound) => factory.call('optional.of', bound)),
    mapMacro('optFlatMap', (_, bound) => bound),
  ],
  functions: [
    declare(
      'optional.of',
      overload('optional_of', [v], optionalV, (value) => new Optional(value)),
    ),
    declare(
      'optional.ofNonZeroValue',
      overload('optional_ofNonZeroValue', [v], optionalV, (value) =>
        isZero(value) ? Optional.none : new Optional(value),
      ),
    ),
    declare(
      'optional.none',
      overload('optional_none', [], optionalV, () => Optional.none),
    ),
    declare(
      'value',
      member(
        'optional_value',
        [optionalV],
        v,
        withOptional(({ value }) => (value === undefined ? dereference : value)),
      ),
    ),
    declare(
      'hasValue',
      member(
        'optional_hasValue',
        [optionalV],
        bool,
        withOptional(({ value }) => value !== undefined),
      ),
    ),
    declareOne('or', () => noSuchOverload, member('optional_or_optional', [optionalV, optionalV], optionalV)),
    declareOne('orValue', () => noSuchOverload, member('optional_orValue_value', [optionalV, v], v)),
    declare('_?._', overload('select_optional_field', [dyn, string], optionalV)),
    declare(
      '_[?_]',
      overload('list_optindex_optional_int', [listV, int], optionalV),
      overload('optional_list_optindex_optional_int', [optionalOf(listV), int], optionalV),
      overload('map_optindex_optional_value', [mapKV, k], optionalV),
      overload('optional_map_optindex_optional_value', [optionalOf(mapKV), k], optionalV),
    ),
    declare(
      '_[_]',
      overload('optional_list_index_int', [optionalOf(listV), int], optionalV),
      overload('optional_map_index_value', [optionalOf(mapKV), k], optionalV),
    ),
    declare(
      'last',
      member('list_last', [listV], optionalV, (list) => optionalAt(list as ListValue, listSize(list as ListValue) - 1)),
    ),
    declare(
      'first',
      member('list_first', [listV], optionalV, (list) => optionalAt(list as ListValue, 0)),
    ),
    declare(
      'optional.unwrap',
      overload('optional_unwrap', [listOf(optionalV)], listV, (list) => unwrapAll(list as ListValue)),
    ),
    declare(
      'unwrapOpt',
      member('optional_unwrapOpt', [listOf(optionalV)], listV, (list) => unwrapAll(list as ListValue)),
    ),
  ],
};

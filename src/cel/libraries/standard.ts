import type { FunctionDeclaration, Implementation, Overload } from '../check/declarations.js';
import { declare, declareOne, member, overload } from '../check/declarations.js';
import { standardMacros } from '../syntax/macros.js';
import type { CelType } from '../types.js';
import { listOf, listType, mapOf, mapType, typeOfType, typeParam, types } from '../types.js';
import { convert } from '../values/conversions.js';
import type { Operator } from '../values/numbers.js';
import { arithmetic, compare, isIn, negate, sizeOf } from '../values/operations.js';
import { CelError, noSuchOverload, orNoSuchOverload, typeOf } from '../values/value.js';
import type { Library } from './library.js';
import { timeFunctions } from './standard-time.js';

/** The functions and operators of the language itself. */
const { bool, bytes, double, duration, dyn, int, string, timestamp, type, uint } = types;
const a = typeParam('A');
const b = typeParam('B');
const listOfA = listOf(a);
const mapOfAB = mapOf(a, b);

function operator(symbol: Operator, ...overloads: [id: string, left: CelType, right: CelType, result: CelType][]) {
  return declareOne(
    `_${symbol}_`,
    (left, right) => arithmetic(symbol, left, right),
    ...overloads.map(([id, left, right, result]) => overload(id, [left, right], result)),
  );
}

/** The overloads of a comparison, in the reference's order. */
function comparison(symbol: string, prefix: string, accepts: (order: number) => boolean): FunctionDeclaration {
  const rows: [string, CelType, CelType][] = [
    ['bool', bool, bool],
    ['int64', int, int],
    ['int64_double', int, double],
    ['int64_uint64', int, uint],
    ['uint64', uint, uint],
    ['uint64_double', uint, double],
    ['uint64_int64', uint, int],
    ['double', double, double],
    ['double_int64', double, int],
    ['double_uint64', double, uint],
    ['string', string, string],
    ['bytes', bytes, bytes],
    ['timestamp', timestamp, timestamp],
    ['duration', duration, duration],
  ];
  const unordered = new CelError(`no such overload: _${symbol}_`);
  return declareOne(
    `_${symbol}_`,
    (left, right) => {
      const order = compare(left, right);
      return typeof order === 'number' ? accepts(order) : (order ?? unordered);
    },
    ...rows.map(([name, left, right]) => overload(`${prefix}_${name}`, [left, right], bool)),
  );
}

/** `name(x)`: conversions to a type from others. */
function conversion(name: string, target: CelType, ...overloads: [id: string, from: CelType][]): FunctionDeclaration {
  const toTarget: Implementation = (value) => convert(value, target);
  return declare(name, ...overloads.map(([id, from]) => overload(id, [from], target, toTarget)));
}

const withTexts = (test: (text: string, part: string) => boolean): Implementation => {
  return (text, part) => {
    if (typeof text !== 'string') return orNoSuchOverload(text);
    return typeof part === 'string' ? test(text, part) : orNoSuchOverload(part);
  };
};
const textTest = (name: string, id: string, test: (text: string, part: string) => boolean): FunctionDeclaration => ({
  ...declare(name, member(id, [string, string], bool, withTexts(test))),
  isUnguarded: true,
});

const sizes: Overload[] = [
  ['bytes', bytes],
  ['list', listOfA],
  ['map', mapOfAB],
  ['string', string],
].flatMap(([name, of]) => [
  overload(`size_${name as string}`, [of as CelType], int),
  member(`${name as string}_size`, [of as CelType], int),
]);

const noSuchSize = new CelError('no such overload: size');

const logical = (name: string, id: string, arity: number): FunctionDeclaration =>
  declareOne(name, () => noSuchOverload, overload(id, Array<CelType>(arity).fill(bool), bool));

const functions: readonly FunctionDeclaration[] = [
  declareOne('_?_:_', () => noSuchOverload, overload('conditional', [bool, a, a], a)),
  logical('_&&_', 'logical_and', 2),
  logical('_||_', 'logical_or', 2),
  declareOne(
    '!_',
    (value) => (typeof value === 'boolean' ? !value : orNoSuchOverload(value)),
    overload('logical_not', [bool], bool),
  ),
  {
    ...declareOne(
      '@not_strictly_false',
      (value) => (typeof value === 'boolean' ? value : true),
      overload('not_strictly_false', [bool], bool),
    ),
    isNonStrict: true,
  },
  declareOne('_==_', () => noSuchOverload, overload('equals', [a, a], bool)),
  declareOne('_!=_', () => noSuchOverload, overload('not_equals', [a, a], bool)),
  operator(
    '+',
    ['add_bytes', bytes, bytes, bytes],
    ['add_double', double, double, double],
    ['add_duration_duration', duration, duration, duration],
    ['add_duration_timestamp', duration, timestamp, timestamp],
    ['add_timestamp_duration', timestamp, duration, timestamp],
    ['add_int64', int, int, int],
    ['add_list', listOfA, listOfA, listOfA],
    ['add_string', string, string, string],
    ['add_uint64', uint, uint, uint],
  ),
  operator(
    '/',
    ['divide_double', double, double, double],
    ['divide_int64', int, int, int],
    ['divide_uint64', uint, uint, uint],
  ),
  operator('%', ['modulo_int64', int, int, int], ['modulo_uint64', uint, uint, uint]),
  operator(
    '*',
    ['multiply_double', double, double, double],
    ['multiply_int64', int, int, int],
    ['multiply_uint64', uint, uint, uint],
  ),
  declareOne(
    '-_',
    (value) => negate(value),
    overload('negate_double', [double], double),
    overload('negate_int64', [int], int),
  ),
  operator(
    '-',
    ['subtract_double', double, double, double],
    ['subtract_duration_duration', duration, duration, duration],
    ['subtract_int64', int, int, int],
    ['subtract_timestamp_duration', timestamp, duration, timestamp],
    ['subtract_timestamp_timestamp', timestamp, timestamp, duration],
    ['subtract_uint64', uint, uint, uint],
  ),
  comparison('<', 'less', (order) => order < 0),
  comparison('<=', 'less_equals', (order) => order <= 0),
  comparison('>', 'greater', (order) => order > 0),
  comparison('>=', 'greater_equals', (order) => order >= 0),
  declareOne(
    '_[_]',
    () => noSuchOverload,
    overload('index_list', [listOfA, int], a),
    overload('index_map', [mapOfAB, a], b),
  ),
  declareOne(
    '@in',
    (element, container) => isIn(element, container),
    overload('in_list', [a, listOfA], bool),
    overload('in_map', [a, mapOfAB], bool),
  ),
  declareOne('size', (value) => sizeOf(value) ?? noSuchSize, ...sizes),
  declareOne('type', (value) => typeOf(value), overload('type', [a], typeOfType(a))),
  conversion('bool', bool, ['bool_to_bool', bool], ['string_to_bool', string]),
  conversion('bytes', bytes, ['bytes_to_bytes', bytes], ['string_to_bytes', string]),
  conversion(
    'double',
    double,
    ['double_to_double', double],
    ['int64_to_double', int],
    ['string_to_double', string],
    ['uint64_to_double', uint],
  ),
  conversion(
    'duration',
    duration,
    ['duration_to_duration', duration],
    ['int64_to_duration', int],
    ['string_to_duration', string],
  ),
  declareOne('dyn', (value) => value!, overload('to_dyn', [a], dyn)),
  conversion(
    'int',
    int,
    ['int64_to_int64', int],
    ['double_to_int64', double],
    ['duration_to_int64', duration],
    ['string_to_int64', string],
    ['timestamp_to_int64', timestamp],
    ['uint64_to_int64', uint],
  ),
  conversion(
    'string',
    string,
    ['string_to_string', string],
    ['bool_to_string', bool],
    ['bytes_to_string', bytes],
    ['double_to_string', double],
    ['duration_to_string', duration],
    ['int64_to_string', int],
    ['timestamp_to_string', timestamp],
    ['uint64_to_string', uint],
  ),
  conversion(
    'timestamp',
    timestamp,
    ['timestamp_to_timestamp', timestamp],
    ['int64_to_timestamp', int],
    ['string_to_timestamp', string],
  ),
  conversion(
    'uint',
    uint,
    ['uint64_to_uint64', uint],
    ['double_to_uint64', double],
    ['int64_to_uint64', int],
    ['string_to_uint64', string],
  ),
  textTest('contains', 'contains_string', (text, part) => text.includes(part)),
  textTest('endsWith', 'ends_with_string', (text, part) => text.endsWith(part)),
  textTest('startsWith', 'starts_with_string', (text, part) => text.startsWith(part)),
  ...timeFunctions,
];

export const standardLibrary: Library = {
  name: 'stdlib',
  functions,
  macros: standardMacros,
  types: [bool, bytes, double, duration, int, listType, mapType, types.null, string, timestamp, type, uint],
};

import type { FunctionDeclaration, Implementation } from '../check/declarations.js';
import { declare, declareOne, member, overload } from '../check/declarations.js';
import { costSize } from '../cost/call-costs.js';
import type { CallCost, CallEstimate, CostNode, EstimateCall, Range } from '../cost/costs.js';
import { add, fixed, multiply, rangeMax, scale, sizeOfNode, unitCosts } from '../cost/costs.js';
import type { Macro } from '../syntax/macros.js';
import { MacroError, mapMacro } from '../syntax/macros.js';
import type { CelType } from '../types.js';
import { listOf, typeParam, types } from '../types.js';
import { elementsOf, isList, listArray, listAt, listSize } from '../values/lists.js';
import { isInt } from '../values/numbers.js';
import { compare, equal } from '../values/operations.js';
import type { ListValue, Value } from '../values/value.js';
import { CelError, ListView, typeOf } from '../values/value.js';
import { spend, spendOnKey } from '../work.js';
import type { Library } from './library.js';

/** Functions of lists: slice, flatten, sort, sortBy, distinct, reverse, lists.range. */
const { bool, bytes, double, duration, dyn, int, string, timestamp, uint } = types;
const list = listOf(typeParam('T'));
const comparable: readonly CelType[] = [int, uint, double, bool, duration, timestamp, string, bytes];
function slice(values: ListValue, start: number | bigint, end: number | bigint): Value {
  const size = listSize(values);
  const failure = (problem: string): CelError => new CelError(`cannot slice(${start}, ${end}), ${problem}`);
  if (start < 0 || end < 0) return failure('negative indexes not supported');
  if (start > end) return failure('start index must be less than or equal to end index');
  if (size < end) return failure(`list is length ${size}`);
  const part: Value[] = [];
  for (let index = Number(start); index < Number(end); index++) part.push(listAt(values, index));
  return part;
}

function flatten(values: ListValue, depth: number): Value[] {
  const flat: Value[] = [];
  for (const element of elementsOf(values)) {
    spend(6);
    if (depth === 0 || !isList(element)) flat.push(element);
    else for (const inner of flatten(element, depth - 1)) flat.push(inner);
  }
  return flat;
}

function sortBy(values: ListValue, keys: ListValue): Value {
  const size = listSize(values);
  if (size !== listSize(keys))
    return new CelError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${size} and ${listSize(keys)} elements respectively`,
    );
  if (size === 0) return values;
  spend(30 + 5 * size * Math.ceil(Math.log2(size)));
  const all = listArray(keys);
  const first = all[0]!;
  if (compare(first, first) === undefined) return new CelError('list elements must be comparable');
  const order = Array.from({ length: size }, (_, index) => index);
  if (all.some((key) => typeOf(key) !== typeOf(first))) return new CelError('list elements must have the same type');
  order.sort((a, b) => {
    const result = compare(all[a]!, all[b]!);
    return typeof result === 'number' ? result : 0;
  });
  return order.map((index) => listAt(values, index));
}

function distinct(values: ListValue): Value {
  const simple = new Set<Value>();
  const result: Value[] = [];
  for (const element of elementsOf(values)) {
    if (typeof element === 'string' || typeof element === 'boolean') {
      spendOnKey(element, simple.size);
      if (simple.has(element)) continue;
      simple.add(element);
    } else if (result.some((known) => equal(element, known) === true)) continue;
    result.push(element);
  }
  return result;
}

/** 0, 1, 2… as a list that takes no space: its cost is counted when it exists. */
class RangeList extends ListView {
  constructor(override readonly size: number) {
    super();
  }
  override at(index: number): Value {
    return index;
  }
}
const range = (count: number | bigint): Value => new RangeList(count < 0 ? 0 : Number(count));

const sortByMacro: Macro = {
  name: 'sortBy',
  argCount: 2,
  isMember: true,
  expand: (factory, target, args) => {
    if (!['list', 'select', 'ident', 'comprehension', 'call'].includes(target.kind))
      throw new MacroError(
        target.id,
        'sortBy can only be applied to a list, identifier, comprehension, call or select expression',
      );
    const input = '@__sortBy_input__';
    const keys = mapMacro(factory, factory.ident(input), args);
    return factory.bind(input, target, factory.memberCall('@sortByAssociatedKeys', factory.ident(input), keys));
  },
};

/** A literal argument as a number, or what it may be at most. */
function literalSize(node: CostNode, otherwise: bigint): bigint {
  const value = node.expr?.kind === 'literal' ? node.expr.value : undefined;
  if (value === undefined || !isInt(value)) return otherwise;
  return value < 0 ? 0n : BigInt(value);
}

function listEstimate(factor: number, size: Range): CallEstimate {
  return { cost: add(add(scale(size, factor), fixed(1)), fixed(unitCosts.list)), resultSize: size };
}

const estimateSlice: EstimateCall = ({ target, args }, sizes) => {
  if (!target || args.length !== 2) return undefined;
  const end = literalSize(args[1]!, sizeOfNode(target, sizes).max);
  return listEstimate(1, fixed(BigInt.asUintN(64, end - literalSize(args[0]!, 0n))));
};
const estimateFlatten: EstimateCall = ({ target, args }, sizes) => {
  if (!target || args.length > 1) return undefined;
  return listEstimate(args.length === 1 ? Number(literalSize(args[0]!, rangeMax)) : 1, sizeOfNode(target, sizes));
};
const estimateRange: EstimateCall = ({ target, args }) =>
  target || args.length !== 1 ? undefined : listEstimate(1, fixed(literalSize(args[0]!, rangeMax)));
const estimateReverse: EstimateCall = ({ target, args }, sizes) =>
  target && args.length === 0 ? listEstimate(1, sizeOfNode(target, sizes)) : undefined;

/** Each element compared with each other one. */
function selfComparison(type: CelType | undefined, argCount: number): EstimateCall {
  const factor = type === string || type === bytes ? 2 + unitCosts.stringTraversal : 2;
  return ({ target, args }, sizes) => {
    if (!target || args.length !== argCount) return undefined;
    const size = sizeOfNode(argCount === 1 ? args[0]! : target, sizes);
    return listEstimate(factor, multiply(size, size));
  };
}

const listCost = (factor: number, size: number): number => Math.trunc(size * factor) + 1 + unitCosts.list;
const ofResult: CallCost = (_, result) => listCost(1, costSize(result));
const ofFlatten: CallCost = ([values, depth]) => listCost(depth === undefined ? 1 : Number(depth), costSize(values!));
const ofComparison =
  (argIndex: 0 | 1): CallCost =>
  (args) => {
    const values = args[argIndex] as ListValue;
    const size = costSize(values);
    if (size === 0 || !isList(values)) return listCost(2, 0);
    const first = listAt(values, 0);
    const isText = typeof first === 'string' || first instanceof Uint8Array;
    return listCost(isText ? 2 + unitCosts.stringTraversal : 2, size * size);
  };

const byName = <T>(suffix: string, value: (type: CelType) => T): Record<string, T> =>
  Object.fromEntries(comparable.map((type) => [`list_${type.name}_${suffix}`, value(type)]));

function sortFunctions(): FunctionDeclaration[] {
  const sort: Implementation = (values) => sortBy(values as ListValue, values as ListValue);
  const byKeys: Implementation = (values, keys) => sortBy(values as ListValue, keys as ListValue);
  return [
    declareOne(
      'sort',
      sort,
      ...comparable.map((type) => member(`list_${type.name}_sort`, [listOf(type)], listOf(type))),
    ),
    declareOne(
      '@sortByAssociatedKeys',
      byKeys,
      ...comparable.map((type) => member(`list_${type.name}_sortByAssociatedKeys`, [list, listOf(type)], list)),
    ),
  ];
}

export const listsLibrary: Library = {
  name: 'cel.lib.ext.lists',
  macros: [sortByMacro],
  functions: [
    declare(
      'slice',
      member('list_slice', [list, int, int], list, (values, start, end) =>
        slice(values as ListValue, start as number, end as number),
      ),
    ),
    declare(
      'flatten',
      member('list_flatten', [listOf(list)], list, (values) => flatten(values as ListValue, 1)),
      member('list_flatten_int', [listOf(dyn), int], listOf(dyn), (values, depth) =>
        (depth as number) < 0
          ? new CelError('level must be non-negative')
          : flatten(values as ListValue, Number(depth)),
      ),
    ),
    ...sortFunctions(),
    declare(
      'lists.range',
      overload('lists_range', [int], listOf(int), (count) => range(count as number)),
    ),
    declare(
      'reverse',
      member('list_reverse', [list], list, (values) => {
        spend(2 * listSize(values as ListValue));
        return [...listArray(values as ListValue)].reverse();
      }),
    ),
    declare(
      'distinct',
      member('list_distinct', [list], list, (values) => distinct(values as ListValue)),
    ),
  ],
  estimates: {
    list_slice: estimateSlice,
    list_flatten: estimateFlatten,
    list_flatten_int: estimateFlatten,
    lists_range: estimateRange,
    list_reverse: estimateReverse,
    list_distinct: selfComparison(undefined, 0),
    ...byName('sort', (type) => selfComparison(type, 0)),
    ...byName('sortByAssociatedKeys', (type) => selfComparison(type, 1)),
  },
  costs: {
    list_slice: ofResult,
    list_flatten: ofFlatten,
    list_flatten_int: ofFlatten,
    lists_range: ofResult,
    list_reverse: ofResult,
    list_distinct: ofComparison(0),
    ...byName('sort', () => ofComparison(0)),
    ...byName('sortByAssociatedKeys', () => ofComparison(1)),
  },
};

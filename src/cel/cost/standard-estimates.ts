import type { CallEstimate, CostNode, Range } from './costs.js';
import { add, fixed, multiply, scale, unitCosts, unknownSize } from './costs.js';

const { stringTraversal, regexLength } = unitCosts;
const one = fixed(1);
const sizeOf = (node: CostNode | undefined): Range => node?.size ?? unknownSize;

/** The cost of a call of the language's own functions; 1 for all that take the same time for all values. */
export function standardEstimate(overloadId: string, target: Range, args: readonly CostNode[]): CallEstimate {
  const first = sizeOf(args[0]);
  switch (overloadId) {
    case 'string_format':
      return { cost: scale(target, stringTraversal) };
    case 'string_to_bytes':
      return { cost: scale(first, stringTraversal), resultSize: { min: first.min, max: wrap(first.max * 4n) } };
    case 'bytes_to_string':
      return { cost: scale(first, stringTraversal), resultSize: { min: first.min / 4n, max: first.max } };
    case 'strings_quote':
      return {
        cost: scale(first, stringTraversal),
        resultSize: { min: wrap(first.min + 2n), max: wrap(first.max * 2n + 2n) },
      };
    case 'starts_with_string':
    case 'ends_with_string':
      return { cost: scale(first, stringTraversal) };
    case 'in_list':
      return { cost: scale(sizeOf(args[1]), 1) };
    case 'matches_string': {
      const textCost = scale(add(target, one), stringTraversal);
      return { cost: multiply(textCost, scale(first, regexLength)) };
    }
    case 'contains_string':
      return { cost: multiply(scale(target, stringTraversal), scale(first, stringTraversal)) };
    case 'add_list':
      return { cost: one, resultSize: add(first, sizeOf(args[1])) };
    case 'add_string':
    case 'add_bytes': {
      const resultSize = add(first, sizeOf(args[1]));
      return { cost: scale(resultSize, stringTraversal), resultSize };
    }
  }
  return { cost: traversesTheSmaller.test(overloadId) ? ofTheSmaller(first, sizeOf(args[1])) : one };
}

const traversesTheSmaller = /^(?:(?:less|greater)(?:_equals)?_(?:string|bytes)|equals|not_equals)$/;

function ofTheSmaller(left: Range, right: Range): Range {
  const max = left.max < right.max ? left.max : right.max;
  return scale({ min: max > 0n ? 1n : 0n, max }, stringTraversal);
}

/** Wraps around as unsigned 64-bit numbers do: the reference does not saturate here. */
const wrap = (value: bigint): bigint => BigInt.asUintN(64, value);

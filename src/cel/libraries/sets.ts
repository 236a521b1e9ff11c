import type { Implementation } from '../check/declarations.js';
import { declare, overload } from '../check/declarations.js';
import { costSize } from '../cost/call-costs.js';
import type { CallCost, EstimateCall } from '../cost/costs.js';
import { add, fixed, multiply, scale, sizeOfNode } from '../cost/costs.js';
import { listOf, typeParam, types } from '../types.js';
import { elementsOf } from '../values/lists.js';
import { listContains } from '../values/operations.js';
import type { ListValue, Value } from '../values/value.js';
import type { Library } from './library.js';

/** Lists as sets: sets.contains, sets.equivalent, sets.intersects. */
const list = listOf(typeParam('T'));

function contains(all: ListValue, part: ListValue): Value {
  for (const element of elementsOf(part)) {
    const result = listContains(all, element);
    if (result !== true) return result;
  }
  return true;
}

function intersects(left: ListValue, right: ListValue): Value {
  for (const element of elementsOf(left)) if (listContains(right, element) === true) return true;
  return false;
}

function equivalent(left: ListValue, right: ListValue): Value {
  const result = contains(left, right);
  return result === true ? contains(right, left) : result;
}

const ofLists =
  (run: (left: ListValue, right: ListValue) => Value): Implementation =>
  (left, right) =>
    run(left as ListValue, right as ListValue);

/** Every element of one is compared with every one of the other. */
const estimate =
  (factor: number): EstimateCall =>
  ({ args }, sizes) => {
    if (args.length !== 2) return undefined;
    const pairs = multiply(sizeOfNode(args[0]!, sizes), sizeOfNode(args[1]!, sizes));
    return { cost: add(scale(pairs, factor), fixed(1)) };
  };
const cost =
  (factor: number): CallCost =>
  ([left, right]) =>
    1 + costSize(left!) * costSize(right!) * factor;

export const setsLibrary: Library = {
  name: 'cel.lib.ext.sets',
  functions: [
    declare('sets.contains', overload('list_sets_contains_list', [list, list], types.bool, ofLists(contains))),
    declare('sets.equivalent', overload('list_sets_equivalent_list', [list, list], types.bool, ofLists(equivalent))),
    declare('sets.intersects', overload('list_sets_intersects_list', [list, list], types.bool, ofLists(intersects))),
  ],
  estimates: {
    list_sets_contains_list: estimate(1),
    list_sets_intersects_list: estimate(1),
    list_sets_equivalent_list: estimate(2),
  },
  costs: {
    list_sets_contains_list: cost(1),
    list_sets_intersects_list: cost(1),
    list_sets_equivalent_list: cost(2),
  },
};

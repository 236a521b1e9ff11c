import type { FunctionDeclaration, Implementation } from '../check/declarations.js';
import { declare, member } from '../check/declarations.js';
import type { CelType } from '../types.js';
import { listOf, typeParam, types } from '../types.js';
import { elementsOf, listAt, listSize } from '../values/lists.js';
import { arithmetic, compare, equal } from '../values/operations.js';
import type { ListValue, Value } from '../values/value.js';
import { CelError, Double, Duration, Uint, noSuchOverload } from '../values/value.js';
import type { Library } from './library.js';

/** Kubernetes' functions of lists: isSorted, sum, min, max, indexOf, lastIndexOf. */
const { bool, bytes, double, duration, int, string, timestamp, uint } = types;
const a = typeParam('A');

/** The types that have an order, with their names in the ids of overloads. */
const comparable: [name: string, type: CelType][] = [
  ['int', int],
  ['uint', uint],
  ['double', double],
  ['bool', bool],
  ['duration', duration],
  ['timestamp', timestamp],
  ['string', string],
  ['bytes', bytes],
];
const summable: [name: string, type: CelType, zero: Value][] = [
  ['int', int, 0],
  ['uint', uint, new Uint(0n)],
  ['double', double, new Double(0)],
  ['duration', duration, new Duration(0n)],
];

const isSorted: Implementation = (list) => {
  let previous: Value | undefined;
  for (const element of elementsOf(list as ListValue)) {
    if (compare(element, element) === undefined) return noSuchOverload;
    if (previous !== undefined && compare(previous, element) === 1) return false;
    previous = element;
  }
  return true;
};

const sumFrom =
  (zero: Value): Implementation =>
  (list) => {
    let sum = zero;
    for (const element of elementsOf(list as ListValue)) {
      sum = arithmetic('+', sum, element);
      if (sum instanceof CelError) return sum;
    }
    return sum;
  };
function extreme(name: string, replaces: 1 | -1): FunctionDeclaration {
  const find: Implementation = (list) => {
    let result: Value | undefined;
    for (const element of elementsOf(list as ListValue)) {
      if (compare(element, element) === undefined) return noSuchOverload;
      if (result === undefined || compare(result, element) === replaces) result = element;
    }
    return result === undefined ? new CelError(`${name} called on empty list`) : result;
  };
  return declare(
    name,
    ...comparable.map(([of, type]) => member(`list_${of}_${name}_${of}`, [listOf(type)], type, find)),
  );
}

const indexOf: Implementation = (list, item) => {
  const size = listSize(list as ListValue);
  for (let index = 0; index < size; index++) if (equal(listAt(list as ListValue, index), item) === true) return index;
  return -1;
};
const lastIndexOf: Implementation = (list, item) => {
  for (let index = listSize(list as ListValue) - 1; index >= 0; index--)
    if (equal(listAt(list as ListValue, index), item) === true) return index;
  return -1;
};

export const kubernetesListsLibrary: Library = {
  name: 'kubernetes.lists',
  functions: [
    declare(
      'isSorted',
      ...comparable.map(([of, type]) => member(`list_${of}_is_sorted_bool`, [listOf(type)], bool, isSorted)),
    ),
    declare(
      'sum',
      ...summable.map(([of, type, zero]) => member(`list_${of}_sum_${of}`, [listOf(type)], type, sumFrom(zero))),
    ),
    extreme('max', -1),
    extreme('min', 1),
    declare('indexOf', member('list_a_index_of_int', [listOf(a), a], int, indexOf)),
    declare('lastIndexOf', member('list_a_last_index_of_int', [listOf(a), a], int, lastIndexOf)),
  ],
};

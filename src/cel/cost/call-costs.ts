import { elementsOf, isList } from '../values/lists.js';
import { isMap } from '../values/maps.js';
import { sizeOf } from '../values/operations.js';
import { byteLength } from '../values/texts.js';
import type { Value } from '../values/value.js';
import { OpaqueValue, Optional } from '../values/value.js';
import type { CallCost } from './costs.js';
import { spend } from '../work.js';
import { unitCosts } from './costs.js';
import { authorizationCheckCost, isNominal, selectorCost } from './kubernetes-estimates.js';

const { stringTraversal, regexLength } = unitCosts;

/** The size that costs are computed from: 1 for what has none. */
export function costSize(value: Value): number {
  if (value instanceof OpaqueValue) return value.size;
  const size = sizeOf(value);
  if (size !== undefined) return Number(size);
  return value instanceof Optional && value.value !== undefined ? costSize(value.value) : 1;
}
/** The same without looking into optionals, as Kubernetes' own functions count. */
const plainSize = (value: Value): number => (value instanceof Optional ? 1 : costSize(value));

const traversed = (size: number, factor = 1): number => Math.ceil(size * factor * stringTraversal);

/** The cost of reading all that a list or a map holds. */
function traversalCost(value: Value): number {
  spend(5);
  if (typeof value === 'string') return Math.trunc(byteLength(value) * stringTraversal);
  if (value instanceof Uint8Array) return Math.trunc(value.length * stringTraversal);
  let cost = 0;
  if (isList(value)) {
    for (const element of elementsOf(value)) cost += traversalCost(element);
    return cost;
  }
  if (!isMap(value)) return 1;
  for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.find(key)!);
  return cost;
}

function regexCost(text: Value, pattern: number): number {
  return traversed(1 + plainSize(text)) * Math.ceil(pattern * regexLength);
}

function containmentCost(overloadId: string, [cidr, other]: readonly Value[], isCidr: boolean): number {
  const size = plainSize(cidr!);
  let cost = traversed(size + size);
  if (isCidr) cost += traversed(size) + 1;
  if (overloadId.endsWith('_string')) cost += traversed(plainSize(other!));
  return cost;
}

/** The cost of calls of a function that Kubernetes adds or counts itself; undefined for others. */
function kubernetesCost(fn: string, overloadId: string, argCount: number): CallCost | undefined {
  if (isNominal(fn)) return () => 1;
  switch (fn) {
    case 'check':
      return () => authorizationCheckCost;
    case 'fieldSelector':
    case 'labelSelector':
      return ([, selector]) => {
        const length = BigInt(plainSize(selector!));
        return Number(selectorCost({ min: length, max: length }).max);
      };
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf':
      return ([list]) => traversalCost(list!);
    case 'replace':
    case 'split':
    case 'ip.isCanonical':
      return ([text]) => traversed(plainSize(text!), 2);
    case 'join':
      return (_, result) => traversed(plainSize(result), 2);
    case 'find':
    case 'findAll':
      return ([text, pattern]) => regexCost(text!, plainSize(pattern!));
    case 'ip':
      return overloadId === 'cidr_ip' ? () => 1 : ([text]) => traversed(plainSize(text!));
    case 'url':
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
    case 'jsonpatch.escapeKey':
    case 'cidr':
    case 'isIP':
    case 'isCIDR':
    case 'quantity':
    case 'isQuantity':
    case 'semver':
    case 'isSemver':
      return argCount > 0 ? ([text]) => traversed(plainSize(text!)) : undefined;
    case 'containsIP':
    case 'containsCIDR':
      return (args) => containmentCost(overloadId, args, fn === 'containsCIDR');
    case 'validate':
      return ([format, text]) =>
        regexCost(text!, format instanceof OpaqueValue ? (format as OpaqueValue & { regexSize: number }).regexSize : 0);
    default:
      return undefined;
  }
}

const smaller = ([left, right]: readonly Value[]): number => traversed(Math.min(costSize(left!), costSize(right!)));

function standardCost(overloadId: string): CallCost | undefined {
  switch (overloadId) {
    case 'starts_with_string':
    case 'ends_with_string':
    case 'string_to_bytes':
    case 'bytes_to_string':
    case 'strings_quote':
    case 'string_format':
      return ([text]) => traversed(costSize(text!));
    case 'in_list':
      return ([, list]) => costSize(list!);
    case 'equals':
      return (args) => (args[0] instanceof OpaqueValue ? 1 : smaller(args));
    case 'add_string':
    case 'add_bytes':
      return ([left, right]) => traversed(costSize(left!) + costSize(right!));
    case 'matches_string':
      return ([text, pattern]) => traversed(1 + costSize(text!)) * Math.ceil(costSize(pattern!) * regexLength);
    case 'contains_string':
      return ([text, part]) => traversed(costSize(text!)) * traversed(costSize(part!));
  }
  return /^(?:(?:less|greater)(?:_equals)?_(?:string|bytes)|not_equals)$/.test(overloadId) ? smaller : undefined;
}

/** The cost of a call; undefined if it is 1 for all arguments. `overloadId` is '' where it is not known before. */
export function callCost(
  fn: string,
  overloadId: string,
  argCount: number,
  own: Readonly<Record<string, CallCost>>,
): CallCost | undefined {
  return own[overloadId] ?? kubernetesCost(fn, overloadId, argCount) ?? standardCost(overloadId);
}

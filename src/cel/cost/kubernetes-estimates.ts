import type { CelType } from '../types.js';
import { isInt } from '../values/numbers.js';
import type { CallEstimate, CostNode, EstimateCall, EstimatedCall, Range, SizeEstimator } from './costs.js';
import { add, fixed, multiply, rangeMax, scale, sizeOfNode, union, unitCosts } from './costs.js';

/**
 * The costs of the functions that Kubernetes adds. They decide which rules a definition may have, so a change of any is
 * a change of the API.
 */
const { stringTraversal, regexLength, list, struct } = unitCosts;
const one = fixed(1);
/** Two authorization checks are all that one expression can afford. */
export const authorizationCheckCost = 350_000;
const formatSizeMax = 64n;
const formatRegexSizeMax = 128;

const nominal = new Set(
  (
    'serviceAccount path group resource subresource namespace name allowed reason error errored ' +
    'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast ' +
    'format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch ' +
    'getScheme getHostname getHost getPort getEscapedPath getQuery'
  ).split(' '),
);
export const isNominal = (fn: string): boolean => nominal.has(fn);

/** Parsing a selector: a list of requirements, of which two characters make one. */
export function selectorCost(length: Range): Range {
  const requirements = scale(scale(length, 0.5), list + struct);
  return add(add(fixed(list), scale(length, stringTraversal)), requirements);
}

export const estimateKubernetesCall: EstimateCall = (call, sizes) => {
  const { fn, target, args } = call;
  const sizeOf = (node: CostNode): Range => sizeOfNode(node, sizes);
  if (nominal.has(fn)) return { cost: one };
  switch (fn) {
    case 'check':
      return { cost: fixed(authorizationCheckCost) };
    case 'fieldSelector':
    case 'labelSelector':
      return args.length === 1 ? { cost: selectorCost(sizeOf(args[0]!)) } : undefined;
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf':
      return target && { cost: traversal(target, sizes) };
    case 'url':
    case 'jsonpatch.escapeKey':
      return args.length === 1 ? traversed(sizeOf(args[0]!)) : undefined;
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
      return target && traversed(sizeOf(target));
    case 'replace':
      return target && args.length >= 2 ? replacement(sizeOf(target), sizeOf(args[0]!), sizeOf(args[1]!)) : undefined;
    case 'split':
      return target && splitting(sizeOf(target), args[1]);
    case 'join':
      return target && joining(target, args[0], sizes);
    case 'find':
    case 'findAll': {
      if (!target || args.length === 0) return undefined;
      const size = sizeOf(target);
      const cost = multiply(scale(add(size, one), stringTraversal), scale(sizeOf(args[0]!), regexLength));
      return { cost, resultSize: { min: 0n, max: size.max } };
    }
    case 'ip':
      if (call.overloadId === 'cidr_ip') return { cost: one };
      return args.length > 0 ? { cost: scale(sizeOf(args[0]!), stringTraversal) } : undefined;
    case 'cidr':
    case 'isIP':
    case 'isCIDR':
    case 'quantity':
    case 'isQuantity':
    case 'semver':
    case 'isSemver':
      return args.length > 0 ? { cost: scale(sizeOf(args[0]!), stringTraversal) } : undefined;
    case 'ip.isCanonical':
      return args.length > 0 ? { cost: scale(sizeOf(args[0]!), 2 * stringTraversal) } : undefined;
    case 'containsIP':
    case 'containsCIDR':
      return args.length > 0 ? { cost: containment(call, sizeOf(args[0]!)) } : undefined;
    case 'validate':
      if (args.length === 0) return undefined;
      return { cost: scale(scale(sizeOf(args[0]!), stringTraversal), formatRegexSizeMax * regexLength) };
    case '_==_':
      return args.length === 2 ? equality(args[0]!, args[1]!) : undefined;
    default:
      return undefined;
  }
};

const traversed = (size: Range): CallEstimate => ({ cost: scale(size, stringTraversal), resultSize: size });

/** An element of a list, for the size that is declared for it. */
function elementOf(node: CostNode): CostNode | undefined {
  const type: CelType | undefined = node.type.params[0];
  return (
    type && { path: node.path.length === 0 ? [] : [...node.path, '@items'], type, expr: undefined, size: undefined }
  );
}

/** Reading all elements, or all characters of a text. */
function traversal(target: CostNode, sizes: SizeEstimator): Range {
  const size = sizeOfNode(target, sizes);
  const element = elementOf(target);
  if (!element) return scale(size, stringTraversal);
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes';
  return multiply(size, isText ? add(one, scale(sizeOfNode(element, sizes), stringTraversal)) : one);
}

function replacement(size: Range, replaced: Range, by: Range): CallEstimate {
  const count = { min: 0n, max: 0n };
  const kept = { min: 0n, max: 0n };
  if (replaced.min === 0n) {
    count.max = size.max < rangeMax ? size.max + 1n : size.max;
    kept.max = size.max;
  } else if (by.max <= replaced.min) {
    kept.max = size.max;
  } else {
    count.max = quotientUp(size.max, replaced.min);
  }
  if (replaced.max === 0n) {
    count.min = size.min < rangeMax ? size.min + 1n : size.min;
    kept.min = size.min;
  } else if (replaced.max <= by.min) {
    kept.min = size.min;
  } else {
    count.min = quotientUp(size.min, replaced.max);
  }
  return { cost: scale(size, 2 * stringTraversal), resultSize: add(multiply(count, by), kept) };
}
function quotientUp(dividend: bigint, divisor: bigint): bigint {
  const quotient = Math.ceil(Number(dividend) / Number(divisor));
  // Go turns a double beyond the largest number into 2^63 on the platforms that servers run on.
  return quotient >= 2 ** 64 ? 2n ** 63n : BigInt(quotient);
}

function splitting(size: Range, limit: CostNode | undefined): CallEstimate {
  const literal = limit?.expr?.kind === 'literal' ? limit.expr.value : undefined;
  const max = literal !== undefined && isInt(literal) ? BigInt.asUintN(64, BigInt(literal)) : size.max;
  return { cost: scale(size, 2 * stringTraversal), resultSize: { min: 0n, max } };
}

function joining(target: CostNode, separator: CostNode | undefined, sizes: SizeEstimator): CallEstimate {
  const count = sizeOfNode(target, sizes);
  const element = elementOf(target);
  let size = element ? multiply(count, sizeOfNode(element, sizes)) : fixed(0);
  if (separator) {
    const gaps = { min: count.min > 0n ? count.min - 1n : 0n, max: count.max > 0n ? count.max - 1n : 0n };
    size = add(size, multiply(sizeOfNode(separator, sizes), gaps));
  }
  return { cost: scale(size, stringTraversal), resultSize: size };
}

/** Addresses have 4 or 16 bytes, those of both sides are read; a text is parsed before. */
function containment({ fn, overloadId }: EstimatedCall, size: Range): Range {
  const address = { min: 4n, max: 16n };
  let cost = scale(add(address, address), stringTraversal);
  if (fn === 'containsCIDR') cost = add(add(cost, scale(address, stringTraversal)), one);
  if (overloadId.endsWith('_string')) cost = add(cost, scale(size, stringTraversal));
  return cost;
}

const constantEquality = new Set([
  'net.IP',
  'net.CIDR',
  'kubernetes.Quantity',
  'kubernetes.Semver',
  'kubernetes.authorization.Authorizer',
  'kubernetes.authorization.PathCheck',
  'kubernetes.authorization.GroupCheck',
  'kubernetes.authorization.ResourceCheck',
  'kubernetes.authorization.Decision',
]);

function equality(left: CostNode, right: CostNode): CallEstimate | undefined {
  if (!left.type.equals(right.type)) return undefined;
  if (constantEquality.has(left.type.name)) return { cost: one };
  if (left.type.name === 'kubernetes.NamedFormat')
    return { cost: scale({ min: 1n, max: formatSizeMax }, stringTraversal) };
  if (left.type.name !== 'kubernetes.URL') return undefined;
  const max = right.size ? union(right.size, right.size).max : 1n;
  return { cost: scale({ min: 1n, max }, stringTraversal) };
}

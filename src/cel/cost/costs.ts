import type { Expr } from '../syntax/ast.js';
import type { CelType } from '../types.js';
import type { Value } from '../values/value.js';

/** A range of unsigned 64-bit numbers: sizes of values, or costs. Sums and products end at the largest one. */
export interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

export const rangeMax = 2n ** 64n - 1n;
export const unknownSize: Range = { min: 0n, max: rangeMax };
export const fixed = (value: bigint | number): Range => ({ min: BigInt(value), max: BigInt(value) });

const capped = (value: bigint): bigint => (value > rangeMax ? rangeMax : value);

export const add = (a: Range, b: Range): Range => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) });
export const multiply = (a: Range, b: Range): Range => ({ min: capped(a.min * b.min), max: capped(a.max * b.max) });
export const union = (a: Range, b: Range): Range => ({
  min: a.min < b.min ? a.min : b.min,
  max: a.max > b.max ? a.max : b.max,
});
/** The product, rounded up. It is computed in doubles, as the reference does. */
export const scale = (a: Range, factor: number): Range => ({ min: scaled(a.min, factor), max: scaled(a.max, factor) });

function scaled(value: bigint, factor: number): bigint {
  const product = Math.ceil(Number(value) * factor);
  return product >= 2 ** 64 ? rangeMax : BigInt(product);
}

/** The costs of what every expression is made of. */
export const unitCosts = {
  selection: 1,
  list: 10,
  map: 30,
  struct: 40,
  /** Of each character that is read. */
  stringTraversal: 0.1,
  /** Of each character of a regular expression. */
  regexLength: 0.25,
} as const;

/** An expression as estimates see it. */
export interface CostNode {
  /** The way to the value from a variable: `['self', 'list', '@items']`; empty if it is computed. */
  readonly path: readonly string[];
  readonly type: CelType;
  readonly expr: Expr | undefined;
  /** The size, if the expression itself tells it. */
  readonly size: Range | undefined;
}

/** Tells how large the value at a path can be: characters of a text, elements of a list, entries of a map. */
export type SizeEstimator = (node: CostNode) => Range | undefined;

export interface CallEstimate {
  readonly cost: Range;
  readonly resultSize?: Range;
}

export interface EstimatedCall {
  readonly fn: string;
  readonly overloadId: string;
  readonly target: CostNode | undefined;
  readonly args: readonly CostNode[];
}

/** The cost of a call before it is made, without that of its arguments; undefined for that of most calls. */
export type EstimateCall = (call: EstimatedCall, sizes: SizeEstimator) => CallEstimate | undefined;

/** The cost of a call that was made; the target is the first argument. */
export type CallCost = (args: readonly Value[], result: Value) => number;

export function sizeOfNode(node: CostNode, sizes: SizeEstimator): Range {
  return node.size ?? sizes(node) ?? unknownSize;
}

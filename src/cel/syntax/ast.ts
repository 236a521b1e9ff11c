import type { Value } from '../values/value.js';

/** The syntax tree. Every expression has an id, by which its position and its type are found. */
export type Expr =
  LiteralExpr | IdentExpr | SelectExpr | CallExpr | ListExpr | MapExpr | StructExpr | ComprehensionExpr | ErrorExpr;

interface LiteralExpr {
  readonly kind: 'literal';
  readonly id: number;
  readonly value: Value;
}
interface IdentExpr {
  readonly kind: 'ident';
  readonly id: number;
  readonly name: string;
}
export interface SelectExpr {
  readonly kind: 'select';
  readonly id: number;
  readonly operand: Expr;
  readonly field: string;
  /** True for has(operand.field). */
  readonly isTest: boolean;
}
export interface CallExpr {
  readonly kind: 'call';
  readonly id: number;
  /** The checker removes the target of a call whose target is part of the function's name: `math.abs(x)`. */
  target: Expr | undefined;
  fn: string;
  readonly args: readonly Expr[];
}
export interface ListExpr {
  readonly kind: 'list';
  readonly id: number;
  readonly elements: readonly Expr[];
  /** The indices of the elements that are written with `?`. */
  readonly optionals: readonly number[];
}
export interface MapEntry {
  readonly id: number;
  readonly key: Expr;
  readonly value: Expr;
  readonly isOptional: boolean;
}
export interface MapExpr {
  readonly kind: 'map';
  readonly id: number;
  readonly entries: readonly MapEntry[];
}
export interface StructField {
  readonly id: number;
  readonly name: string;
  readonly value: Expr;
  readonly isOptional: boolean;
}
export interface StructExpr {
  readonly kind: 'struct';
  readonly id: number;
  readonly name: string;
  readonly fields: readonly StructField[];
}
/**
 * A loop over `range`, as the macros write it: `accu` begins as `init`; while `condition` is true, each element makes it
 * `step`; the value is `result`. A binding (`cel.bind`) has an empty range.
 */
export interface ComprehensionExpr {
  readonly kind: 'comprehension';
  readonly id: number;
  readonly range: Expr;
  readonly variable: string;
  readonly variable2: string | undefined;
  readonly accu: string;
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}
interface ErrorExpr {
  readonly kind: 'error';
  readonly id: number;
}

/** The name of the variable in which macros collect their result. */
export const accumulatorName = '@result';
/** A name that users cannot give to a variable of a macro either. */
export const legacyAccumulatorName = '__result__';

/** Finds the names that chains of selections spell: `a.b.c`. */
export class QualifiedNames {
  private readonly known = new Map<Expr, string | undefined>();

  of(expr: Expr): string | undefined {
    if (expr.kind === 'ident') return expr.name;
    if (expr.kind !== 'select' || expr.isTest) return undefined;
    if (this.known.has(expr)) return this.known.get(expr);
    const operand = this.of(expr.operand);
    const name = operand === undefined ? undefined : `${operand}.${expr.field}`;
    this.known.set(expr, name);
    return name;
  }
}

/** The expressions directly below, in the order of evaluation. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target ? [expr.target, ...expr.args] : expr.args;
    case 'list':
      return expr.elements;
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return expr.fields.map(({ value }) => value);
    case 'comprehension':
      return [expr.range, expr.init, expr.condition, expr.step, expr.result];
    default:
      return [];
  }
}

/** All expressions of the tree that `matches` accepts; parents before children, level by level. */
export function matching(root: Expr, matches: (expr: Expr) => boolean): Expr[] {
  const all: Expr[] = [root];
  for (let index = 0; index < all.length; index++) for (const child of childrenOf(all[index]!)) all.push(child);
  return all.filter(matches);
}

import type { Checked } from '../check/checker.js';
import type { CallExpr, ComprehensionExpr, Expr, ListExpr, MapExpr, SelectExpr } from '../syntax/ast.js';
import { accumulatorName, legacyAccumulatorName } from '../syntax/ast.js';
import type { CelType } from '../types.js';
import { codePointLength } from '../values/texts.js';
import type { CallEstimate, CostNode, EstimateCall, Range, SizeEstimator } from './costs.js';
import { add, fixed, multiply, rangeMax, union, unitCosts, unknownSize } from './costs.js';
import { Path } from './paths.js';
import { standardEstimate } from './standard-estimates.js';

/** The sizes of the keys and the values of a container. */
interface EntrySizes {
  readonly kind: 'list' | 'map';
  readonly key: Range;
  readonly value: Range;
}

interface Local {
  readonly path: Path;
  readonly size: Range | undefined;
  readonly entries: EntrySizes | undefined;
}

const free = fixed(0);
const selection = fixed(unitCosts.selection);

/** The least and the most that an evaluation can cost. */
export function estimateCost(checked: Checked, sizes: SizeEstimator, estimates: readonly EstimateCall[]): Range {
  return new CostEstimation(checked, sizes, estimates).of(checked.expr);
}

class CostEstimation {
  private readonly paths = new Map<number, Path>();
  private readonly sizes = new Map<number, Range>();
  private readonly entries = new Map<number, EntrySizes>();
  private readonly locals = new Map<string, Local[]>();

  constructor(
    private readonly checked: Checked,
    private readonly estimator: SizeEstimator,
    private readonly estimates: readonly EstimateCall[],
  ) {}

  of(expr: Expr): Range {
    const name = this.checked.qualified.get(expr.id);
    if (name !== undefined) return this.ofIdent(expr, name);
    switch (expr.kind) {
      case 'ident':
        return this.ofIdent(expr, expr.name.startsWith('.') ? expr.name.slice(1) : expr.name);
      case 'select':
        return this.ofSelect(expr);
      case 'call':
        return this.ofCall(expr);
      case 'list':
        return this.ofList(expr);
      case 'map':
        return this.ofMap(expr);
      case 'struct':
        return expr.fields.reduce((sum, field) => add(sum, this.of(field.value)), fixed(unitCosts.struct));
      case 'comprehension':
        return isBinding(expr) ? this.ofBinding(expr) : this.ofComprehension(expr);
      default:
        return free;
    }
  }

  private typeOf(expr: Expr): CelType {
    return this.checked.types[expr.id]!;
  }

  private ofIdent(expr: Expr, name: string): Range {
    this.paths.set(expr.id, this.local(name)?.path ?? Path.of(name));
    return selection;
  }

  private ofSelect(expr: SelectExpr): Range {
    const operand = this.of(expr.operand);
    if (expr.isTest) return operand;
    const { kind } = this.typeOf(expr.operand);
    this.paths.set(expr.id, this.pathOf(expr.operand).append(expr.field));
    return kind === 'map' || kind === 'struct' || kind === 'param' ? add(operand, selection) : operand;
  }

  private ofCall(call: CallExpr): Range {
    if (call.fn === 'dyn') {
      const cost = this.of(call.args[0]!);
      this.copySizes(call, call.args[0]!);
      return add(cost, fixed(1));
    }
    const argCosts = call.args.map((arg) => this.of(arg));
    const args = call.args.map((arg) => this.node(arg));
    const overloads = this.checked.overloads.get(call.id) ?? [];
    if (overloads.length === 0) return free;
    const targetCost = call.target ? this.of(call.target) : free;
    const target = call.target && this.node(call.target);
    let cost: Range = { min: rangeMax, max: 0n };
    let resultSize: Range | undefined;
    for (const overloadId of overloads) {
      const estimate = this.ofOverload(call, overloadId, target, args, argCosts);
      cost = union(cost, estimate.cost);
      if (estimate.resultSize) resultSize = resultSize ? union(resultSize, estimate.resultSize) : estimate.resultSize;
      if (overloadId === 'index_list' || overloadId === 'index_map') {
        resultSize = this.entriesOf(call.args[0]!)?.value;
        const step = overloadId === 'index_list' ? '@items' : '@values';
        this.paths.set(call.id, this.pathOf(call.args[0]!).append(step));
      }
      resultSize ??= this.sizeOf(call);
    }
    if (resultSize) this.sizes.set(call.id, resultSize);
    return add(targetCost, cost);
  }

  private ofOverload(
    call: CallExpr,
    overloadId: string,
    target: CostNode | undefined,
    args: readonly CostNode[],
    argCosts: readonly Range[],
  ): CallEstimate {
    const sum = argCosts.reduce(add, free);
    for (const estimate of this.estimates) {
      const found = estimate({ fn: call.fn, overloadId, target, args }, this.estimator);
      if (found) return { ...found, cost: add(found.cost, sum) };
    }
    switch (overloadId) {
      case 'logical_and':
      case 'logical_or':
        return { cost: { min: argCosts[0]!.min, max: sum.max } };
      case 'conditional': {
        const [, truthy, falsy] = call.args as [Expr, Expr, Expr];
        this.joinEntries(call, truthy, falsy);
        const branches = union(argCosts[1]!, argCosts[2]!);
        return {
          cost: add(argCosts[0]!, branches),
          resultSize: union(this.sizeOrUnknown(truthy), this.sizeOrUnknown(falsy)),
        };
      }
      case 'add_list':
        this.joinEntries(call, call.args[0]!, call.args[1]!);
        break;
      case 'add_string':
      case 'add_bytes':
        this.joinEntries(call, call.args[0]!, call.args[1]!);
    }
    const { cost, resultSize } = standardEstimate(overloadId, target?.size ?? unknownSize, args);
    return { cost: add(cost, sum), ...(resultSize && { resultSize }) };
  }

  private joinEntries(expr: Expr, left: Expr, right: Expr): void {
    const [a, b] = [this.entriesOf(left), this.entriesOf(right)];
    if (a && b) this.entries.set(expr.id, { kind: a.kind, key: union(a.key, b.key), value: union(a.value, b.value) });
  }

  private ofList(expr: ListExpr): Range {
    let cost = fixed(unitCosts.list);
    for (const element of expr.elements) cost = add(cost, this.of(element));
    this.entries.set(expr.id, { kind: 'list', key: fixed(1), value: this.unionOfSizes(expr.elements) });
    return cost;
  }

  private ofMap(expr: MapExpr): Range {
    let cost = fixed(unitCosts.map);
    for (const { key, value } of expr.entries) cost = add(cost, add(this.of(key), this.of(value)));
    const key = this.unionOfSizes(expr.entries.map((entry) => entry.key));
    const value = this.unionOfSizes(expr.entries.map((entry) => entry.value));
    this.entries.set(expr.id, { kind: 'map', key, value });
    return cost;
  }

  private unionOfSizes(exprs: readonly Expr[]): Range {
    if (exprs.length === 0) return free;
    return exprs.map((expr) => this.sizeOrUnknown(expr)).reduce(union);
  }

  private ofBinding(expr: ComprehensionExpr): Range {
    let cost = add(this.of(expr.range), this.of(expr.init));
    this.push(expr.accu, {
      path: this.pathOf(expr.init),
      size: this.sizeOf(expr.init),
      entries: this.entriesOf(expr.init),
    });
    cost = add(cost, this.of(expr.result));
    this.pop(expr.accu);
    this.copySizes(expr, expr.result);
    return cost;
  }

  private ofComprehension(expr: ComprehensionExpr): Range {
    let cost = add(this.of(expr.range), this.of(expr.init));
    this.push(expr.accu, {
      path: this.pathOf(expr.init),
      size: this.sizeOf(expr.init),
      entries: this.entriesOf(expr.init),
    });
    const entries = this.entriesOf(expr.range);
    const isList = (entries?.kind ?? this.typeOf(expr.range).kind) === 'list';
    const path = this.pathOf(expr.range);
    const variable = (step: string, size: Range | undefined): Local => ({
      path: path.append(step),
      size,
      entries: undefined,
    });
    if (expr.variable2 !== undefined) {
      this.push(expr.variable, variable(isList ? '@indices' : '@keys', entries?.key));
      this.push(expr.variable2, variable(isList ? '@items' : '@values', entries?.value));
    } else {
      this.push(expr.variable, isList ? variable('@items', entries?.value) : variable('@keys', entries?.key));
    }
    const loop = this.of(expr.condition);
    const step = this.of(expr.step);
    this.pop(expr.variable);
    if (expr.variable2 !== undefined) this.pop(expr.variable2);
    cost = add(cost, this.of(expr.result));
    this.pop(expr.accu);
    const count = this.sizeOrUnknown(expr.range);
    cost = add(cost, multiply(count, add(step, loop)));
    this.setSizeOfLoop(expr, count);
    return cost;
  }

  private setSizeOfLoop(expr: ComprehensionExpr, count: Range): void {
    if (expr.init.kind === 'literal') {
      const size = this.sizeOf(expr.init);
      if (size) this.sizes.set(expr.id, size);
    } else if (expr.init.kind === 'list' || expr.init.kind === 'map') {
      this.sizes.set(expr.id, count);
      const entries = this.entriesOf(expr.step);
      if (entries) this.entries.set(expr.id, entries);
    }
  }

  private local(name: string): Local | undefined {
    return this.locals.get(name)?.at(-1);
  }
  private push(name: string, local: Local): void {
    const known = this.locals.get(name);
    if (known) known.push(local);
    else this.locals.set(name, [local]);
  }
  private pop(name: string): void {
    this.locals.get(name)!.pop();
  }

  private pathOf(expr: Expr): Path {
    const local = expr.kind === 'ident' ? this.local(expr.name) : undefined;
    return local ? local.path : (this.paths.get(expr.id) ?? Path.empty);
  }

  private node(expr: Expr): CostNode {
    const path = this.pathOf(expr).names;
    const isAccumulator = path[0] === accumulatorName || path[0] === legacyAccumulatorName;
    return { path: isAccumulator ? [] : path, type: this.typeOf(expr), expr, size: this.sizeOf(expr) };
  }

  private copySizes(to: Expr, from: Expr): void {
    const size = this.sizeOf(from);
    if (size) this.sizes.set(to.id, size);
    const entries = this.entriesOf(from);
    if (entries) this.entries.set(to.id, entries);
  }

  private entriesOf(expr: Expr): EntrySizes | undefined {
    return this.entries.get(expr.id) ?? (expr.kind === 'ident' ? this.local(expr.name)?.entries : undefined);
  }

  private sizeOrUnknown(expr: Expr): Range {
    return this.sizeOf(expr) ?? unknownSize;
  }

  private sizeOf(expr: Expr): Range | undefined {
    const known = this.sizes.get(expr.id) ?? ownSize(expr);
    if (known) return known;
    const type = this.typeOf(expr);
    const estimated = this.estimator({ path: this.pathOf(expr).names, type, expr, size: undefined });
    if (estimated) {
      this.sizes.set(expr.id, estimated);
      return estimated;
    }
    if (isScalar(type)) return fixed(1);
    return expr.kind === 'ident' ? this.local(expr.name)?.size : undefined;
  }
}

/** True for what `cel.bind` and the macros like it make. */
function isBinding({ range, condition, accu }: ComprehensionExpr): boolean {
  return (
    range.kind === 'list' &&
    range.elements.length === 0 &&
    condition.kind === 'literal' &&
    condition.value === false &&
    accu !== legacyAccumulatorName
  );
}

/** The size that the expression itself tells. */
function ownSize(expr: Expr): Range | undefined {
  if (expr.kind === 'list') return fixed(expr.elements.length);
  if (expr.kind === 'map') return fixed(expr.entries.length);
  if (expr.kind !== 'literal') return undefined;
  if (typeof expr.value === 'string') return fixed(codePointLength(expr.value));
  return fixed(expr.value instanceof Uint8Array ? expr.value.length : 1);
}

const scalars = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'type', 'uint']);
function isScalar(type: CelType): boolean {
  if (!type.isOptional || type.params.length === 0) return scalars.has(type.kind);
  let known = scalarOptionals.get(type);
  if (known === undefined) scalarOptionals.set(type, (known = isScalar(type.params[0]!)));
  return known;
}
/** Optionals can be nested deeply. */
const scalarOptionals = new WeakMap<CelType, boolean>();

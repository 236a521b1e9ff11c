import type { Checked } from '../check/checker.js';
import type { Declarations, FunctionDeclaration } from '../check/declarations.js';
import { callCost } from '../cost/call-costs.js';
import type { CallCost } from '../cost/costs.js';
import { unitCosts } from '../cost/costs.js';
import type { CallExpr, Expr, ListExpr, MapExpr, SelectExpr, StructExpr } from '../syntax/ast.js';
import { display } from '../values/conversions.js';
import { BuiltMap } from '../values/maps.js';
import { types } from '../types.js';
import type { Value } from '../values/value.js';
import { CelError, Optional } from '../values/value.js';
import { spend } from '../work.js';
import type { Attribute, Qualifier } from './attributes.js';
import { resolver, withQualifier } from './attributes.js';
import { Invoker, invokerOf } from './calls.js';
import { comprehension } from './comprehensions.js';
import { constantMembership, equality, isKey, logical, notOptional, orElse, setEntry } from './operators.js';
import type { Evaluate, Frame } from './frame.js';

/** Thrown if a constant of the expression has no value: `int('abc')`. */
export class PlanError extends Error {}

/** An expression in a form that can be evaluated. */
interface Plan {
  readonly evaluate: Evaluate;
  /** The value, if it is the same in every evaluation. Constants cost nothing. */
  readonly constant?: Value;
  readonly attribute?: Attribute;
}

interface PlannerOptions {
  readonly checked: Checked;
  readonly declarations: Declarations;
  /** Reads a declared variable. */
  readonly loadVariable: (name: string) => Evaluate;
  readonly costs: Readonly<Record<string, CallCost>>;
}

const foldable = new Set('bool bytes double duration dyn int string timestamp type uint'.split(' '));

export class Planner {
  slotCount = 0;
  private readonly locals = new Map<string, Evaluate[]>();

  constructor(readonly options: PlannerOptions) {}

  plan(expr: Expr): Plan {
    const name = this.options.checked.qualified.get(expr.id);
    if (name !== undefined) return this.ident(expr, name);
    switch (expr.kind) {
      case 'literal':
        return constant(expr.value);
      case 'ident':
        return this.ident(expr, expr.name.startsWith('.') ? expr.name.slice(1) : expr.name);
      case 'select':
        return this.select(expr);
      case 'call':
        return this.call(expr);
      case 'list':
        return this.list(expr);
      case 'map':
        return this.map(expr);
      case 'struct':
        return { evaluate: this.struct(expr) };
      case 'comprehension':
        return { evaluate: comprehension(this, expr) };
      case 'error':
        throw new PlanError('unsupported expr');
    }
  }

  /** Plans with a variable of a macro. */
  withLocal<T>(name: string, load: Evaluate, plan: () => T): T {
    const known = this.locals.get(name) ?? [];
    this.locals.set(name, known);
    known.push(load);
    const result = plan();
    known.pop();
    return result;
  }
  newSlot(): number {
    return this.slotCount++;
  }

  private ident(expr: Expr, name: string): Plan {
    const type = this.options.checked.types[expr.id]!;
    const known = this.options.declarations.constants.get(name);
    if (known !== undefined && !this.locals.has(name)) return constant(known);
    if (type.kind === 'type') {
      const named = this.options.declarations.typeNames.get(name);
      if (!named) throw new PlanError(`reference to undefined type: ${name}`);
      return constant(named);
    }
    const load = this.locals.get(name)?.at(-1) ?? this.options.loadVariable(name);
    return new AttributePlan({ kind: 'root', load, mayBeOptional: type.isDyn || type.isOptional, qualifiers: [] });
  }

  private attributeOf(plan: Plan, expr: Expr): Attribute {
    const type = this.options.checked.types[expr.id]!;
    const mayBeOptional = type.isDyn || type.isOptional;
    return plan.attribute ?? { kind: 'root', load: plan.evaluate, mayBeOptional, qualifiers: [] };
  }

  private select(expr: SelectExpr): Plan {
    const operand = this.attributeOf(this.plan(expr.operand), expr.operand);
    const attribute = withQualifier(operand, { constant: expr.field, isOptional: false, isTest: expr.isTest });
    if (!expr.isTest) return new AttributePlan(attribute);
    const resolve = resolver(attribute);
    const evaluate: Evaluate = (frame) => {
      const value = resolve(frame);
      return value instanceof Optional ? value.value !== undefined : value;
    };
    return { evaluate };
  }

  private index(call: CallExpr, operand: Plan, index: Plan): Plan {
    const isOptional = call.fn !== '_[_]';
    let qualifier: Qualifier;
    if (index.constant !== undefined) qualifier = { constant: checkedKey(index.constant), isOptional };
    else qualifier = { key: index.attribute ? keyResolver(index.attribute) : keyCheck(index.evaluate), isOptional };
    return new AttributePlan(withQualifier(this.attributeOf(operand, call.args[0]!), qualifier));
  }

  private call(call: CallExpr): Plan {
    const exprs = call.target ? [call.target, ...call.args] : call.args;
    const args = exprs.map((arg) => this.plan(arg));
    const [first, second, third] = args as [Plan, Plan, Plan];
    switch (call.fn) {
      case '_&&_':
        return { evaluate: logical(first.evaluate, second.evaluate, false) };
      case '_||_':
        return { evaluate: logical(first.evaluate, second.evaluate, true) };
      case '_?_:_': {
        const [truthy, falsy] = [this.attributeOf(second, exprs[1]!), this.attributeOf(third, exprs[2]!)];
        return new AttributePlan({ kind: 'conditional', condition: first.evaluate, truthy, falsy });
      }
      case '_[_]':
      case '_[?_]':
      case '_?._':
        return this.index(call, first, second);
      case '_==_':
      case '_!=_':
        return { evaluate: equality(first.evaluate, second.evaluate, call.fn === '_==_', this.costOf(call, 2)) };
    }
    const overloads = this.options.checked.overloads.get(call.id) ?? [];
    const overloadId = overloads.length === 1 ? overloads[0]! : '';
    if (overloadId === 'optional_or_optional' || overloadId === 'optional_orValue_value')
      return { evaluate: orElse(first.evaluate, second.evaluate, overloadId === 'optional_orValue_value') };
    if (overloadId === 'in_list' && second.constant !== undefined) {
      const membership = constantMembership(first.evaluate, second.constant);
      if (membership) return membership;
    }
    const declared = this.options.declarations.functions.get(call.fn)!;
    const invoke = this.invoker(declared, overloadId, exprs, args);
    if (args.length === 1 && first.constant !== undefined && foldable.has(call.fn)) {
      const value = invoke.call([first.constant]);
      if (value instanceof CelError) throw new PlanError(value.message);
      return constant(value);
    }
    return { evaluate: invoke.withCost(this.costOf(call, args.length)) };
  }

  private costOf(call: CallExpr, argCount: number): CallCost | undefined {
    const overloads = this.options.checked.overloads.get(call.id) ?? [];
    const known = call.fn === '_==_' ? 'equals' : call.fn === '_!=_' ? 'not_equals' : '';
    return callCost(call.fn, known || (overloads.length === 1 ? overloads[0]! : ''), argCount, this.options.costs);
  }

  private invoker(
    declared: FunctionDeclaration,
    overloadId: string,
    exprs: readonly Expr[],
    args: readonly Plan[],
  ): Invoker {
    const pattern = args[1]?.constant;
    if (declared.withPattern && typeof pattern === 'string') {
      const impl = declared.withPattern(pattern);
      if (typeof impl === 'string') throw new PlanError(impl);
      return new Invoker(impl, args, { stopsAtError: true });
    }
    const { types: typesById, hasGuessedTypes } = this.options.checked;
    const argTypes = exprs.map((arg) => (hasGuessedTypes ? types.dyn : typesById[arg.id]!));
    return invokerOf(declared, overloadId, args, argTypes);
  }

  private list({ elements, optionals }: ListExpr): Plan {
    const plans = elements.map((element) => this.plan(element));
    if (optionals.length === 0 && plans.every((plan) => plan.constant !== undefined))
      return constant(plans.map((plan) => plan.constant!));
    const optional = new Set(optionals);
    const parts = plans.map(({ evaluate }, index) => ({ evaluate, isOptional: optional.has(index) }));
    const build: Evaluate = (frame) => {
      const values: Value[] = [];
      spend(2 * parts.length);
      for (const { evaluate, isOptional } of parts) {
        const value = evaluate(frame);
        if (value instanceof CelError) return value;
        if (!isOptional) values.push(value);
        else if (!(value instanceof Optional))
          return new CelError(`cannot initialize optional list element from non-optional value ${display(value)}`);
        else if (value.value !== undefined) values.push(value.value);
      }
      return values;
    };
    return { evaluate: charging(build, unitCosts.list) };
  }

  private map({ entries }: MapExpr): Plan {
    const parts = entries.map((entry) => ({ ...entry, key: this.plan(entry.key), value: this.plan(entry.value) }));
    const build: Evaluate = (frame) => {
      const map = new BuiltMap();
      spend(10 * parts.length);
      for (const part of parts) {
        const key = part.key.evaluate(frame);
        if (key instanceof CelError) return key;
        const value = part.value.evaluate(frame);
        if (value instanceof CelError) return value;
        const failure = setEntry(map, key, value, part.isOptional);
        if (failure) return failure;
      }
      return map;
    };
    const isConstant = parts.every(({ key, value }) => key.constant !== undefined && value.constant !== undefined);
    return isConstant ? constant(build(undefined as unknown as Frame)) : { evaluate: charging(build, unitCosts.map) };
  }

  private struct(expr: StructExpr): Evaluate {
    const { provider, messages } = this.options.declarations;
    const name = expr.name.startsWith('.') ? expr.name.slice(1) : expr.name;
    const message = messages.get(name);
    const parts = expr.fields.map((field) => ({ ...field, value: this.plan(field.value) }));
    const build: Evaluate = (frame) => {
      const fields = new Map<string, Value>();
      spend(10 * parts.length);
      for (const { name: field, value: plan, isOptional } of parts) {
        const value = plan.evaluate(frame);
        if (value instanceof CelError) return value;
        if (!isOptional) fields.set(field, value);
        else if (!(value instanceof Optional)) return notOptional(field, value);
        else if (value.value === undefined) fields.delete(field);
        else fields.set(field, value.value);
      }
      if (message) return message.create(fields);
      return provider?.create?.(name, fields) ?? new CelError(`unknown type: '${name}'`);
    };
    return charging(build, unitCosts.struct);
  }
}

const constant = (value: Value): Plan => ({ constant: value, evaluate: () => value });

/** Compiled on first use, since most attributes only become part of longer ones: `a.b` of `a.b.c`. */
class AttributePlan implements Plan {
  private compiled: Evaluate | undefined;
  constructor(readonly attribute: Attribute) {}

  get evaluate(): Evaluate {
    return (this.compiled ??= this.compile());
  }
  private compile(): Evaluate {
    const resolve = resolver(this.attribute);
    return this.attribute.kind === 'conditional' ? resolve : charging(resolve, unitCosts.selection);
  }
}

function charging(evaluate: Evaluate, cost: number): Evaluate {
  return (frame) => {
    const value = evaluate(frame);
    frame.charge(cost);
    return value;
  };
}

function checkedKey(value: Value): Value {
  if (!isKey(value)) throw new PlanError(`invalid qualifier type: ${display(value)}`);
  return value;
}
function keyCheck(evaluate: Evaluate): Evaluate {
  return (frame) => {
    const key = evaluate(frame);
    return key instanceof CelError || isKey(key) ? key : new CelError(`invalid qualifier type: ${display(key)}`);
  };
}
const keyResolver = (attribute: Attribute): Evaluate => keyCheck(resolver(attribute));

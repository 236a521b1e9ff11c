import type { Value } from '../values/value.js';
import { spend } from '../work.js';
import type { CallExpr, Expr } from './ast.js';
import { accumulatorName, legacyAccumulatorName } from './ast.js';

/** A call that the parser replaces by another expression: `has(x.y)`, `list.all(x, x > 0)`. */
export interface Macro {
  readonly name: string;
  /** The number of its arguments; -1 for any. */
  readonly argCount: number;
  readonly isMember: boolean;
  /** The expression; undefined to leave the call as it is. Throws MacroError. */
  expand(factory: MacroFactory, target: Expr, args: readonly Expr[]): Expr | undefined;
}

/** Work that each expression causes in all passes of a compilation. */
const copySteps = 150;

export class MacroError extends Error {
  constructor(
    /** The expression at which the error is shown; that of the call without it. */
    readonly exprId: number | undefined,
    message: string,
  ) {
    super(message);
  }
}

const keyOf = (name: string, argCount: number, isMember: boolean): string => `${name}:${argCount}:${isMember}`;

/** The macros by what they replace; later ones win. */
export function macroTable(macros: readonly Macro[]): ReadonlyMap<string, Macro> {
  return new Map(macros.map((macro) => [keyOf(macro.name, macro.argCount, macro.isMember), macro]));
}

export function macroOf(macros: ReadonlyMap<string, Macro>, call: CallExpr): Macro | undefined {
  const isMember = call.target !== undefined;
  return macros.get(keyOf(call.fn, call.args.length, isMember)) ?? macros.get(keyOf(call.fn, -1, isMember));
}

/** Makes the expressions of a macro, all of which are at the place of its call. */
export class MacroFactory {
  private offset = 0;
  constructor(private readonly offsets: number[]) {}

  at(offset: number): this {
    this.offset = offset;
    return this;
  }
  private id(): number {
    return this.offsets.push(this.offset) - 1;
  }
  literal(value: Value): Expr {
    return { kind: 'literal', id: this.id(), value };
  }
  ident(name: string): Expr {
    return { kind: 'ident', id: this.id(), name };
  }
  accu(): Expr {
    return this.ident(accumulatorName);
  }
  list(...elements: Expr[]): Expr {
    return { kind: 'list', id: this.id(), elements, optionals: [] };
  }
  map(): Expr {
    return { kind: 'map', id: this.id(), entries: [] };
  }
  call(fn: string, ...args: Expr[]): Expr {
    return { kind: 'call', id: this.id(), target: undefined, fn, args };
  }
  memberCall(fn: string, target: Expr, ...args: Expr[]): Expr {
    return { kind: 'call', id: this.id(), target, fn, args };
  }
  test(operand: Expr, field: string): Expr {
    return { kind: 'select', id: this.id(), operand, field, isTest: true };
  }
  /** A loop whose result is the accumulator, if no other is given. */
  loop(
    range: Expr,
    [variable, variable2]: readonly [string, string?],
    parts: { init: Expr; condition: Expr; step: Expr; result?: Expr },
  ): Expr {
    const result = parts.result ?? this.accu();
    const { init, condition, step } = parts;
    const id = this.id();
    return {
      kind: 'comprehension',
      id,
      range,
      variable,
      variable2,
      accu: accumulatorName,
      init,
      condition,
      step,
      result,
    };
  }
  /** `body` with a variable, whose value is computed when it is needed. */
  bind(name: string, value: Expr, body: Expr): Expr {
    const [range, condition, step] = [this.list(), this.literal(false), this.ident(name)];
    return {
      kind: 'comprehension',
      id: this.id(),
      range,
      variable: '#unused',
      variable2: undefined,
      accu: name,
      init: value,
      condition,
      step,
      result: body,
    };
  }

  /** Copies the expression with new ids. A chain of macros that copy their target grows exponentially. */
  copy(expr: Expr): Expr {
    spend(copySteps);
    const id = this.offsets.push(this.offsets[expr.id]!) - 1;
    switch (expr.kind) {
      case 'select':
        return { ...expr, id, operand: this.copy(expr.operand) };
      case 'call':
        return {
          ...expr,
          id,
          target: expr.target && this.copy(expr.target),
          args: expr.args.map((arg) => this.copy(arg)),
        };
      case 'list':
        return { ...expr, id, elements: expr.elements.map((element) => this.copy(element)) };
      case 'map':
        return {
          ...expr,
          id,
          entries: expr.entries.map((entry) => ({
            ...entry,
            key: this.copy(entry.key),
            value: this.copy(entry.value),
          })),
        };
      case 'struct':
        return { ...expr, id, fields: expr.fields.map((field) => ({ ...field, value: this.copy(field.value) })) };
      case 'comprehension':
        return {
          ...expr,
          id,
          range: this.copy(expr.range),
          init: this.copy(expr.init),
          condition: this.copy(expr.condition),
          step: this.copy(expr.step),
          result: this.copy(expr.result),
        };
      default:
        return { ...expr, id };
    }
  }
}

/** The name of a variable of a macro. */
function variableOf(arg: Expr, problem: string): string {
  if (arg.kind !== 'ident') throw new MacroError(arg.id, problem);
  if (arg.name === accumulatorName || arg.name === legacyAccumulatorName)
    throw new MacroError(arg.id, 'iteration variable overwrites accumulator variable');
  return arg.name;
}

export type Variables = readonly [string, string?];

export const quantifiers = {
  all: (factory: MacroFactory, range: Expr, variables: Variables, predicate: Expr): Expr => {
    const init = factory.literal(true);
    const condition = factory.call('@not_strictly_false', factory.accu());
    return factory.loop(range, variables, { init, condition, step: factory.call('_&&_', factory.accu(), predicate) });
  },
  exists: (factory: MacroFactory, range: Expr, variables: Variables, predicate: Expr): Expr => {
    const init = factory.literal(false);
    const condition = factory.call('@not_strictly_false', factory.call('!_', factory.accu()));
    return factory.loop(range, variables, { init, condition, step: factory.call('_||_', factory.accu(), predicate) });
  },
  existsOne: (factory: MacroFactory, range: Expr, variables: Variables, predicate: Expr): Expr => {
    const next = factory.call('_+_', factory.accu(), factory.literal(1));
    return factory.loop(range, variables, {
      init: factory.literal(0),
      condition: factory.literal(true),
      step: factory.call('_?_:_', predicate, next, factory.accu()),
      result: factory.call('_==_', factory.accu(), factory.literal(1)),
    });
  },
  /** A list of what `transform` makes of the elements that `filter` accepts. */
  list: (factory: MacroFactory, range: Expr, variables: Variables, transform: Expr, filter?: Expr): Expr => {
    const added = factory.call('_+_', factory.accu(), factory.list(transform));
    const step = filter ? factory.call('_?_:_', filter, added, factory.accu()) : added;
    return factory.loop(range, variables, { init: factory.list(), condition: factory.literal(true), step });
  },
};

const notIdentifier = 'argument is not an identifier';
const notSimple = 'argument must be a simple name';
type Quantifier = 'all' | 'exists' | 'existsOne';

function quantifier(name: string, kind: Quantifier): Macro {
  return {
    name,
    argCount: 2,
    isMember: true,
    expand: (factory, target, args) => quantifiers[kind](factory, target, [variableOf(args[0]!, notSimple)], args[1]!),
  };
}

export function mapMacro(factory: MacroFactory, target: Expr, args: readonly Expr[]): Expr {
  const filter = args.length === 3 ? args[1] : undefined;
  return quantifiers.list(factory, target, [variableOf(args[0]!, notIdentifier)], args[args.length - 1]!, filter);
}

/** The macros that every expression may use. */
export const standardMacros: readonly Macro[] = [
  {
    name: 'has',
    argCount: 1,
    isMember: false,
    expand: (factory, _target, args) => {
      const arg = args[0]!;
      if (arg.kind !== 'select') throw new MacroError(arg.id, 'invalid argument to has() macro');
      return factory.test(arg.operand, arg.field);
    },
  },
  quantifier('all', 'all'),
  quantifier('exists', 'exists'),
  quantifier('exists_one', 'existsOne'),
  { name: 'map', argCount: 2, isMember: true, expand: mapMacro },
  { name: 'map', argCount: 3, isMember: true, expand: mapMacro },
  {
    name: 'filter',
    argCount: 2,
    isMember: true,
    expand: (factory, target, args) =>
      quantifiers.list(factory, target, [variableOf(args[0]!, notIdentifier)], args[0]!, args[1]),
  },
];

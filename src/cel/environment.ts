import type { Declarations, TypeProvider } from './check/declarations.js';
import { mergeFunctions } from './check/declarations.js';
import { check } from './check/checker.js';
import type { Validator } from './check/validators.js';
import { validate } from './check/validators.js';
import type { CallCost, EstimateCall, Range, SizeEstimator } from './cost/costs.js';
import { estimateCost } from './cost/estimate.js';
import { estimateKubernetesCall } from './cost/kubernetes-estimates.js';
import type { DeclaredType } from './declared/declared-type.js';
import { DeclaredTypes } from './declared/declared-types.js';
import { PlanError, Planner } from './evaluate/planner.js';
import { Program } from './evaluate/program.js';
import type { Library } from './libraries/library.js';
import { Source } from './source.js';
import type { CelIssue } from './source.js';
import type { Expr } from './syntax/ast.js';
import { macroTable } from './syntax/macros.js';
import type { ParserOptions } from './syntax/parser.js';
import { parse } from './syntax/parser.js';
import { CelType } from './types.js';
import { atOnce, type Steps } from '../std/steps.js';
import { WorkBudget, compilationStepsMax, expressionTooLarge, within } from './work.js';

/** Variables, types and sizes of an environment, besides its libraries. */
export interface EnvironmentOptions {
  /** Variables by name. A DeclaredType reads plain JSON; a CelType takes values of CEL, or JSON for dyn. */
  readonly variables?: Readonly<Record<string, CelType | DeclaredType>>;
  /** Structs that are neither the type of a variable nor a part of one. */
  readonly provider?: TypeProvider;
  readonly libraries?: readonly Library[];
  readonly expressionCodePointsMax?: number;
}

interface CompileOptions {
  /** The sizes of values, for the estimate of the cost; those of declared types without it. */
  readonly sizes?: SizeEstimator;
}

/** An expression that is none, with all its errors as text: `ERROR: <input>:1:1: …`. */
interface CompileFailure {
  readonly isOk: false;
  readonly errors: readonly CelIssue[];
  readonly message: string;
}
interface Compiled {
  readonly isOk: true;
  readonly resultType: CelType;
  readonly estimatedCost: Range;
  /** Names of the variables that the expression reads. */
  readonly variables: ReadonlySet<string>;
  /** The syntax tree, with macros expanded. */
  readonly expr: Expr;
  /** The program, or why it cannot be run although its types are right: `int('abc')`. */
  readonly program: Program | Error;
}

/** Variables, types and libraries that expressions are compiled with. Immutable; `extend` makes others of it. */
export class Environment {
  private readonly declarations: Declarations;
  private readonly parserOptions: ParserOptions;
  private readonly declared: DeclaredTypes;
  private readonly validators: readonly Validator[];
  private readonly estimates: readonly EstimateCall[];
  private readonly costs: Readonly<Record<string, CallCost>>;

  constructor(private readonly options: EnvironmentOptions) {
    const libraries = options.libraries ?? [];
    const variables = Object.entries(options.variables ?? {});
    this.declared = new DeclaredTypes(new Map(variables.filter(isDeclared)), options.provider);
    const types = libraries.flatMap((library) => library.types ?? []);
    this.declarations = {
      variables: new Map(variables.map(([name, type]) => [name, type instanceof CelType ? type : type.type])),
      functions: functionsOf(libraries),
      typeNames: new Map(types.map((type) => [type.name, type])),
      provider: this.declared,
      messages: new Map(libraries.flatMap(({ messages = [] }) => messages).map((message) => [message.name, message])),
      constants: new Map(libraries.flatMap(({ constants = {} }) => Object.entries(constants))),
      comparesAcrossTypes: libraries.some((library) => library.comparesAcrossTypes),
    };
    this.parserOptions = {
      macros: macroTable(libraries.flatMap((library) => library.macros ?? [])),
      hasOptionalSyntax: libraries.some((library) => library.hasOptionalSyntax),
      ...(options.expressionCodePointsMax !== undefined && {
        expressionCodePointsMax: options.expressionCodePointsMax,
      }),
    };
    this.validators = libraries.flatMap((library) => library.validators ?? []);
    const own = Object.assign({}, ...libraries.map((library) => library.estimates)) as Record<string, EstimateCall>;
    this.estimates = [(call, sizes) => own[call.overloadId]?.(call, sizes), estimateKubernetesCall];
    this.costs = Object.assign({}, ...libraries.map((library) => library.costs)) as Record<string, CallCost>;
  }

  /** An environment with more variables and libraries. */
  extend(more: EnvironmentOptions): Environment {
    return new Environment({
      ...this.options,
      ...more,
      variables: { ...this.options.variables, ...more.variables },
      libraries: more.libraries
        ? [...(this.options.libraries ?? []), ...more.libraries]
        : (this.options.libraries ?? []),
    });
  }

  compile(expression: string, options?: CompileOptions): Compiled | CompileFailure {
    return atOnce(this.compileInSteps(expression, options));
  }

  /** Compiles in steps: parsing, checking, estimating the cost, planning. */
  *compileInSteps(expression: string, options: CompileOptions = {}): Steps<Compiled | CompileFailure> {
    const budget = new WorkBudget(compilationStepsMax(expression.length), expressionTooLarge);
    const steps = this.compileSource(new Source(expression), options);
    try {
      for (;;) {
        const { done, value } = within(budget, () => steps.next());
        if (done) return value;
        yield;
      }
    } catch (error) {
      if (error !== expressionTooLarge) throw error;
      const source = new Source(expression);
      source.report(-1, expressionTooLarge.message);
      return failureOf(source);
    }
  }

  private *compileSource(source: Source, options: CompileOptions): Steps<Compiled | CompileFailure> {
    const parsed = parse(source, this.parserOptions);
    yield;
    const checked = parsed && check(source, parsed, this.declarations);
    if (checked && !source.hasErrors) validate(source, checked, this.validators);
    if (!checked || source.hasErrors) return failureOf(source);
    yield;
    const estimatedCost = estimateCost(checked, options.sizes ?? this.declared.sizes, this.estimates);
    const resultType = checked.types[checked.expr.id]!;
    yield;
    const planner = new Planner({
      checked,
      declarations: this.declarations,
      loadVariable: (name) => this.declared.loader(name, this.declarations.variables.get(name)),
      costs: this.costs,
    });
    let program: Program | Error;
    try {
      const { evaluate } = planner.plan(checked.expr);
      program = new Program(evaluate, planner.slotCount);
    } catch (error) {
      if (!(error instanceof PlanError)) throw error;
      program = error;
    }
    return { isOk: true, resultType, estimatedCost, variables: checked.variables, expr: checked.expr, program };
  }
}

const failureOf = (source: Source): CompileFailure => ({
  isOk: false,
  errors: source.errors,
  message: source.format(),
});

const functionTables = new WeakMap<readonly Library[], Declarations['functions']>();
function functionsOf(libraries: readonly Library[]): Declarations['functions'] {
  let table = functionTables.get(libraries);
  if (!table)
    functionTables.set(libraries, (table = mergeFunctions(libraries.flatMap(({ functions }) => functions ?? []))));
  return table;
}

function isDeclared(entry: [string, CelType | DeclaredType]): entry is [string, DeclaredType] {
  return !(entry[1] instanceof CelType);
}

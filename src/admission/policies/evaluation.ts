import type { Outcome, Program } from '../../cel/evaluate/program.js';
import {
  Authorizer,
  evaluateWithAuthorizer,
  ResourceCheck,
  type AccessCheck,
  type AccessDecision,
  AccessDecisions,
} from '../../cel/libraries/kubernetes/authorizer.js';
import { CelError, MapValue, type Value } from '../../cel/values/value.js';
import type { CompiledExpression } from '../../expressions/environment.js';
import { goQuote } from '../../machinery/go-quote.js';
import { awaited, runAwaiting, type Awaiting } from '../../std/awaiting.js';
import type { YieldTimer } from '../../std/yield-timer.js';
import type { MatchedRequest } from '../request/matched-request.js';

/** The cost of one expression at most, as in kube-apiserver. */
const expressionCostMax = 1_000_000;

/** An expression of a policy, with its text. */
export interface PolicyExpression {
  readonly text: string;
  readonly compiled: CompiledExpression;
}

/** The result of an expression, or the text of its error. */
export type Result = { readonly value: Value; readonly error?: undefined } | { readonly error: string };

/** Thrown when the expressions of a policy have cost more than all of them may. */
export class OutOfBudget extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

type Bindings = Readonly<Record<string, unknown>>;

interface AuthorizerBindings {
  readonly authorizer: Authorizer;
  readonly 'authorizer.requestResource': ResourceCheck;
}

/** The access decisions of one request, which all policies share. */
export class RequestAuthorizer {
  private readonly decisions = new AccessDecisions();
  private readonly authorizer = new Authorizer(this.decisions.decide);

  constructor(private readonly authorize: (check: AccessCheck) => Promise<AccessDecision>) {}

  /** Returns the variables `authorizer` and `authorizer.requestResource`. */
  bindings({ attributes, requested, namespace }: MatchedRequest): AuthorizerBindings {
    const { group, resource } = requested.resource;
    const { subresource, name } = attributes;
    const requestResource = new ResourceCheck(this.authorizer, { group, resource, subresource, namespace, name });
    return { authorizer: this.authorizer, 'authorizer.requestResource': requestResource };
  }

  /** Evaluates at once, unless an access decision is needed that the request has not asked for before. */
  evaluate(program: Program, bindings: Bindings): Outcome | Promise<Outcome> {
    const { decisions, authorize } = this;
    return evaluateWithAuthorizer(program, bindings, { costLimit: expressionCostMax, decisions, authorize });
  }
}

/** Thrown to end an evaluation that has taken long and needs a variable, which is then computed between two pauses. */
class VariableNeeded extends Error {
  constructor(readonly variable: string) {
    super(`variable ${variable} is needed`);
  }
}

/** The variable `variables`: each is computed when an expression first reads it. */
class LazyVariables extends MapValue {
  private readonly values = new Map<string, Value>();
  /** Cost of the variables that were computed since takeCost(). */
  private cost = 0;

  constructor(
    private readonly expressions: ReadonlyMap<string, CompiledExpression>,
    private readonly timer: YieldTimer,
    private readonly bindings: () => Bindings,
  ) {
    super();
  }

  override get size(): number {
    return this.expressions.size;
  }
  override keys(): Iterable<Value> {
    return this.expressions.keys();
  }

  override find(key: Value): Value | undefined {
    const name = key as string;
    const known = this.values.get(name);
    if (known !== undefined) return known;
    const expression = this.expressions.get(name);
    if (!expression) return undefined;
    const { program, problem } = expression;
    if (!program) return new CelError(`composited variable ${goQuote(name)} fails to compile: ${problem.text}`);
    if (this.timer.isDue()) throw new VariableNeeded(name);
    return this.keep(name, program.evaluate(this.bindings(), { costLimit: expressionCostMax }));
  }

  programOf(name: string): Program {
    return this.expressions.get(name)!.program!;
  }

  keep(name: string, outcome: Outcome): Value {
    this.cost += outcome.cost;
    const value = outcome.isOk
      ? outcome.value
      : new CelError(`composited variable ${goQuote(name)} fails to evaluate: ${outcome.error}`);
    this.values.set(name, value);
    return value;
  }

  takeCost(): number {
    const { cost } = this;
    this.cost = 0;
    return cost;
  }
}

/** Evaluates the expressions of one policy for one request, binding and param. */
export class PolicyEvaluation {
  private readonly variables: LazyVariables;
  private readonly bindings: Bindings;

  constructor(
    variables: ReadonlyMap<string, CompiledExpression>,
    bindingsWith: (variables: MapValue) => Bindings,
    private readonly authorizer: RequestAuthorizer,
    private readonly timer: YieldTimer,
    /** Throws if the request was cancelled. */
    private readonly checkCancelled: () => void,
  ) {
    this.variables = new LazyVariables(variables, timer, () => this.bindings);
    this.bindings = bindingsWith(this.variables);
  }

  /** Evaluates an expression and takes its cost from the budget. Throws OutOfBudget. */
  result({ text, compiled }: PolicyExpression, budget: Budget): Result | Promise<Result> {
    if (!compiled.program) return { error: `compilation error: ${compiled.problem.text}` };
    const outcome = this.timer.isDue() ? undefined : this.runAtOnce(compiled.program);
    if (outcome && !(outcome instanceof Promise)) return this.resultOf(text, outcome, budget);
    return this.awaitedResult(text, outcome ?? runAwaiting(this.run(compiled.program)), budget);
  }

  /** Returns undefined if a variable has to be computed between two pauses. */
  private runAtOnce(program: Program): Outcome | Promise<Outcome> | undefined {
    const inTurns = (error: unknown) => {
      if (error instanceof VariableNeeded) return undefined;
      throw error;
    };
    try {
      const outcome = this.authorizer.evaluate(program, this.bindings);
      if (!(outcome instanceof Promise)) return outcome;
      return outcome.catch((error: unknown) => inTurns(error) ?? runAwaiting(this.run(program)));
    } catch (error) {
      return inTurns(error);
    }
  }

  private awaitedResult(text: string, outcome: Outcome | Promise<Outcome>, budget: Budget): Result | Promise<Result> {
    return outcome instanceof Promise
      ? outcome.then((ended) => this.resultOf(text, ended, budget))
      : this.resultOf(text, outcome, budget);
  }

  private resultOf(text: string, outcome: Outcome, budget: Budget): Result {
    budget.spend(outcome.cost + this.variables.takeCost());
    return outcome.isOk
      ? { value: outcome.value }
      : { error: `expression '${text}' resulted in error: ${outcome.error}` };
  }

  /** Evaluates a program. Other requests run before it, and before its variables, when the event loop was held long. */
  private *run(program: Program): Awaiting<Outcome> {
    for (;;) {
      if (this.timer.isDue()) yield this.pause();
      try {
        return yield* awaited(this.authorizer.evaluate(program, this.bindings));
      } catch (error) {
        if (!(error instanceof VariableNeeded)) throw error;
        const { variable } = error;
        this.variables.keep(variable, yield* this.run(this.variables.programOf(variable)));
      }
    }
  }

  private async pause(): Promise<void> {
    await this.timer.yield();
    this.checkCancelled();
  }
}

/** The cost that a group of expressions may have together. */
export class Budget {
  constructor(private left: number) {}

  spend(cost: number): void {
    if (cost > this.left) throw new OutOfBudget();
    this.left -= cost;
  }
}

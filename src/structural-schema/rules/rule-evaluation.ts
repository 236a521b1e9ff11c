import { Optional } from '../../cel/values/value.js';
import type { Outcome, Program } from '../../cel/evaluate/program.js';
import { evaluationSteps } from '../../cel/work.js';
import { fieldError, goQuote, hidden, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { isJsonObject, type JsonValue } from '../../machinery/kube-object.js';
import type { Steps } from '../../std/steps.js';
import { Correlation, uncorrelated, ValuePair } from './correlation.js';
import type { RuleTree, TreeRule } from './rule-tree.js';

/** Limits of kube-apiserver on the cost of one evaluation, and of all evaluations of an object. */
const evaluationCostMax = 1_000_000;
const objectCostMax = 10_000_000;
/** Limits on the work of one evaluation, 50 ms, and of all evaluations of an object, 500 ms. */
const evaluationStepsMax = evaluationSteps(evaluationCostMax);
const objectStepsMax = 10 * evaluationStepsMax;
/** Steps after which other requests may run: 2 ms. */
const sliceSteps = 200_000;
/** Steps of visiting a value, for slices only. */
const visitSteps = 200;

/** Bytes of a text that a messageExpression returns. */
const messageBytesMax = 5 * 1024;

export const wholeObject = path('');
const fieldOf = (at: FieldPath): FieldPath | string => (at === wholeObject ? '<nil>' : at);

interface RuleErrors {
  readonly errors: readonly FieldError[];
  /** Texts of errors in unchanged parts, which are ignored. */
  readonly warnings: readonly string[];
}

/**
 * Evaluates the rules of a value. Without an old value, transition rules are skipped. Errors in parts that have not
 * changed are warnings, unless `isDefault`: a default is its own old value.
 */
export function* evaluateRules(
  tree: RuleTree,
  value: JsonValue,
  old: JsonValue | undefined,
  { at, isDefault = false }: { readonly at: FieldPath; readonly isDefault?: boolean },
): Steps<RuleErrors> {
  const correlation = old === undefined ? uncorrelated : new Correlation(new ValuePair(value, old), undefined, true);
  const evaluation = new RuleEvaluation(isDefault);
  yield* evaluation.run({ tree, value, at, correlation });
  return evaluation;
}

interface Visit {
  readonly tree: RuleTree;
  readonly value: JsonValue;
  readonly at: FieldPath;
  readonly correlation: Correlation;
}

class RuleEvaluation implements RuleErrors {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];
  private costLeft = objectCostMax;
  private stepsLeft = objectStepsMax;
  private sliceLeft = sliceSteps;
  /** True once a limit on costs is reached: no further rules are evaluated. */
  private isOver = false;

  constructor(private readonly isDefault: boolean) {}

  *run(first: Visit): Steps<void> {
    const visits: Visit[] = [first];
    for (let visit = visits.pop(); visit && !this.isOver; visit = visits.pop()) {
      this.sliceLeft -= visitSteps;
      if (visit.value === null) continue;
      for (const rule of visit.tree.rules) {
        this.apply(rule, visit);
        if (this.isOver) return;
        if (this.sliceLeft > 0) continue;
        yield;
        this.sliceLeft = sliceSteps;
      }
      const inner = innerVisits(visit);
      // The last one is visited first.
      for (let index = inner.length - 1; index >= 0; index--) visits.push(inner[index]!);
    }
  }

  private apply(rule: TreeRule, visit: Visit): void {
    const { condition } = rule;
    if (!condition) return;
    const { tree, at, correlation } = visit;
    const failed = (text: string) => this.errors.push(fieldError.invalid(fieldOf(at), tree.typeName, text));
    if (condition.problem !== undefined) {
      failed(`rule compile error: ${condition.problem}`);
      return;
    }
    const optional = rule.rule.optionalOldSelf === true;
    if (condition.usesOldSelf && !correlation.pair && !optional) return;
    const outcome = this.evaluate(condition.program, rule, visit);
    if (!outcome) {
      failed('validation failed due to running out of cost budget, no further validation rules will be run');
    } else if (!outcome.isOk) failed(this.problemOf(outcome, rule));
    else if (outcome.value !== true) this.refuse(rule, visit);
  }

  /** Returns undefined if the cost of all evaluations is over its limit. */
  private evaluate(program: Program, { rule }: TreeRule, { tree, value, correlation }: Visit): Outcome | undefined {
    const old = correlation.pair?.old;
    const oldSelf = rule.optionalOldSelf
      ? old === undefined
        ? Optional.none
        : new Optional(tree.type.read(old))
      : old;
    const stepLimit = Math.min(evaluationStepsMax, this.stepsLeft);
    const outcome = program.evaluate({ self: value, oldSelf }, { costLimit: evaluationCostMax, stepLimit });
    this.sliceLeft -= outcome.steps;
    this.stepsLeft -= outcome.steps;
    if (outcome.cost > this.costLeft) this.isOver = true;
    this.costLeft -= outcome.cost;
    return this.isOver ? undefined : outcome;
  }

  private problemOf({ error, isOverLimit }: Outcome & { readonly isOk: false }, rule: TreeRule): string {
    const name = nameOf(rule);
    if (isOverLimit) {
      this.isOver = true;
      return `'${error}': no further validation rules will be run due to call cost exceeds limit for rule: ${name}`;
    }
    return error.startsWith('no such overload')
      ? `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${name}`
      : `${error} evaluating rule: ${name}`;
  }

  /** Adds the error of a rule that does not hold. */
  private refuse(rule: TreeRule, visit: Visit): void {
    const { reason, message: text = '' } = rule.rule;
    const { at, value } = visit;
    const where = rule.fieldPath === '' ? fieldOf(at) : at.child(rule.fieldPath);
    const detail = this.messageOf(rule, visit) ?? (text === '' ? `failed rule: ${nameOf(rule)}` : text.trim());
    if (this.isOver) {
      this.add(fieldError.invalid(where, visit.tree.typeName, detail), rule, visit);
      return;
    }
    const shown = typeof value === 'object' ? hidden : value;
    const error =
      reason === 'FieldValueForbidden'
        ? fieldError.forbidden(where, detail)
        : reason === 'FieldValueRequired'
          ? fieldError.required(where, detail)
          : reason === 'FieldValueDuplicate'
            ? fieldError.duplicate(where, shown === hidden ? {} : shown)
            : fieldError.invalid(where, shown, detail);
    this.add(error, rule, visit);
  }

  private add(error: FieldError, rule: TreeRule, { correlation }: Visit): void {
    if (!this.isDefault && !rule.condition!.usesOldSelf && correlation.isUnchanged)
      this.warnings.push(`${error.field}: ${error.detail}`);
    else this.errors.push(error);
  }

  /** Returns the text of the messageExpression; undefined if it has none. */
  private messageOf(rule: TreeRule, visit: Visit): string | undefined {
    const program = rule.message?.program;
    if (!program) return undefined;
    const outcome = this.evaluate(program, rule, visit);
    if (!outcome)
      return 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run';
    if (!outcome.isOk) {
      if (!outcome.isOverLimit) return undefined;
      this.isOver = true;
      return `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${goQuote(rule.rule.messageExpression ?? '')}`;
    }
    if (typeof outcome.value !== 'string') return undefined;
    const text = outcome.value.trim();
    return text === '' || text.includes('\n') || Buffer.byteLength(text) > messageBytesMax ? undefined : text;
  }
}

/** The name of a rule in messages. */
const nameOf = ({ rule: { message = '', rule = '' } }: TreeRule): string => (message === '' ? rule : message).trim();

function innerVisits({ tree, value, at, correlation }: Visit): Visit[] {
  const inner: Visit[] = [];
  if (Array.isArray(value)) {
    const { items } = tree;
    if (!items) return inner;
    const correlationOf = correlation.items(tree);
    value.forEach((item, index) =>
      inner.push({ tree: items, value: item, at: at.index(index), correlation: correlationOf(item) }),
    );
  } else if (isJsonObject(value)) {
    const { additional, properties } = tree;
    const add = (name: string, innerTree: RuleTree, where: FieldPath) =>
      inner.push({
        tree: innerTree,
        value: value[name]!,
        at: where,
        correlation: correlation.field(name, value[name]!, tree),
      });
    if (additional) for (const name of Object.keys(value)) add(name, additional, at.key(name));
    for (const [name, property] of properties) if (Object.hasOwn(value, name)) add(name, property, at.child(name));
  }
  return inner;
}

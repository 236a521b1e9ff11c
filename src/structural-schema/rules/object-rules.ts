import { fieldError, type FieldError, type FieldErrorType } from '../../machinery/field-error.js';
import type { Fields } from '../../machinery/fields.js';
import type { JsonValue } from '../../machinery/kube-object.js';
import type { Steps } from '../../std/steps.js';
import { evaluateRules, wholeObject } from './rule-evaluation.js';
import { compileRuleTree, type RuleTree } from './rule-tree.js';

/** Errors after which the types of values, or their sizes, are not those that rules were compiled for. */
const blocking: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** The rules of a version of a custom kind, compiled on first use. */
export class ObjectRules {
  private tree: RuleTree | undefined;
  private isCompiled = false;

  constructor(private readonly schema: Fields) {}

  /**
   * Returns the errors of rules, unless `earlier` errors forbid to evaluate them. Errors of unchanged parts are added to
   * `warnings`.
   */
  *validate(
    value: JsonValue,
    old: JsonValue | undefined,
    earlier: readonly FieldError[],
    warnings: string[] | undefined,
  ): Steps<readonly FieldError[]> {
    if (!this.isCompiled) {
      this.tree = yield* compileRuleTree(this.schema, true);
      this.isCompiled = true;
    }
    if (!this.tree) return [];
    if (earlier.some(({ type }) => blocking.has(type))) {
      const text =
        'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
      return [fieldError.invalid('<nil>', null, text)];
    }
    const found = yield* evaluateRules(this.tree, value, old, { at: wholeObject });
    warnings?.push(...found.warnings);
    return found.errors;
  }
}

import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { asFields, isSet, type Fields } from '../../machinery/fields.js';
import { goShape, goStruct } from '../../machinery/go-value.js';
import { isJsonObject } from '../../machinery/kube-object.js';
import type { Steps } from '../../std/steps.js';
import {
  RuleCompiler,
  rulesOf,
  typeOfSchema,
  type CompiledExpression,
  type DeclaredType,
  type StoredExpressions,
  type ValidationRule,
} from './compiled-rule.js';
import { isEmbedded, typeOfProperty } from './rule-tree.js';
import { SchemaCost, within, type Cardinality } from './rule-costs.js';

interface RuleValidationOptions {
  /** Expressions of the stored definition. */
  readonly stored: StoredExpressions;
  /** True for an unchanged schema, which may have expressions that cost more than the limit. */
  readonly allowsCosts: boolean;
  /** Errors of the schema; rules are not compiled around them. */
  readonly schemaErrors: readonly FieldError[];
}

/** Compiles the expressions of a schema and of those inside it, and validates their types and estimated costs. */
export function* validateRules(schema: Fields, at: FieldPath, options: RuleValidationOptions): Steps<FieldError[]> {
  const validation = new RuleValidation(options);
  const type = validation.compilesAt(at) ? typeOfSchema(schema, true) : undefined;
  yield* validation.visit(schema, at, { type, isResource: true, cardinality: 1n, uncorrelated: undefined });
  return [...validation.errors, ...validation.cost.errors(at)];
}

interface Place {
  /** Undefined if expressions cannot see the values. */
  readonly type: DeclaredType | undefined;
  readonly isResource: boolean;
  readonly cardinality: Cardinality;
  /** The list or map around the schema whose items have no old value to compare with. */
  readonly uncorrelated: FieldPath | undefined;
}

class RuleValidation {
  readonly errors: FieldError[] = [];
  readonly cost = new SchemaCost();
  /** Paths of schema errors and of all schemas around them. */
  private readonly broken = new Set<string>();

  constructor(private readonly options: RuleValidationOptions) {
    for (const { field } of options.schemaErrors) {
      this.broken.add(field);
      for (let end = field.length - 1; end > 0; end--) {
        if (field[end] === '.' || field[end] === '[') this.broken.add(field.slice(0, end));
      }
    }
  }

  compilesAt(at: FieldPath): boolean {
    return this.broken.size === 0 || !this.broken.has(String(at));
  }

  *visit(schema: Fields, at: FieldPath, place: Place): Steps<void> {
    const additional = schema['additionalProperties'];
    if (isJsonObject(additional)) {
      yield* this.visit(additional, at.child('additionalProperties'), {
        type: place.type?.elements,
        isResource: isEmbedded(additional),
        cardinality: within(place.cardinality, schema['maxProperties']),
        uncorrelated: place.uncorrelated ?? (schema['x-kubernetes-map-type'] === 'atomic' ? at : undefined),
      });
    }
    for (const [name, property] of Object.entries(asFields(schema['properties']))) {
      yield* this.visit(asFields(property), at.child('properties').key(name), {
        type: place.type && typeOfProperty(place.type, name, asFields(property)),
        isResource: isEmbedded(asFields(property)),
        cardinality: place.cardinality,
        uncorrelated: place.uncorrelated,
      });
    }
    const { items } = schema;
    if (isJsonObject(items)) {
      const isKeyed = schema['x-kubernetes-list-type'] === 'map';
      yield* this.visit(items, at.child('items'), {
        type: place.type?.elements,
        isResource: isEmbedded(items),
        cardinality: within(place.cardinality, schema['maxItems']),
        uncorrelated: place.uncorrelated ?? (isKeyed ? undefined : at),
      });
    }
    const rules = rulesOf(schema);
    if (rules.length > 0) yield* this.validate(rules, schema, at.child('x-kubernetes-validations'), at, place);
  }

  private *validate(
    rules: readonly ValidationRule[],
    schema: Fields,
    at: FieldPath,
    schemaAt: FieldPath,
    place: Place,
  ): Steps<void> {
    if (!this.compilesAt(schemaAt)) return;
    // Structs have names relative to the schema of their rules.
    const type = place.type && typeOfSchema(schema, place.isResource);
    if (!type) {
      const text =
        'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
      this.errors.push(fieldError.internal(at, text));
      return;
    }
    const compiler = new RuleCompiler(type, this.options.stored);
    for (const [index, rule] of rules.entries()) {
      yield;
      const { condition, message } = yield* compiler.compile(rule);
      if (condition) this.check(rule, condition, message, at.index(index), type, place);
    }
  }

  private check(
    rule: ValidationRule,
    condition: CompiledExpression,
    message: CompiledExpression | undefined,
    at: FieldPath,
    type: DeclaredType,
    { cardinality, uncorrelated }: Place,
  ): void {
    const costErrors = (expression: CompiledExpression, what: string, where: FieldPath) => {
      const errors = this.cost.add(expression.costMax, type, cardinality, what, where);
      return this.options.allowsCosts ? [] : errors;
    };
    const [ruleAt, messageAt] = [at.child('rule'), at.child('messageExpression')];
    this.errors.push(...costErrors(condition, 'estimated rule cost', ruleAt));
    if (condition.problem !== undefined) this.errors.push(fieldError.invalid(ruleAt, shown(rule), condition.problem));
    if (message?.problem !== undefined) this.errors.push(fieldError.invalid(messageAt, shown(rule), message.problem));
    else if (message) this.errors.push(...costErrors(message, 'estimated messageExpression cost', messageAt));
    if (condition.usesOldSelf) {
      if (!uncorrelated) return;
      const text = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${String(uncorrelated)}`;
      this.errors.push(fieldError.invalid(ruleAt, rule.rule, text));
    } else if (isSet(rule.optionalOldSelf)) {
      const text = 'may not be set if oldSelf is not used in rule';
      this.errors.push(fieldError.invalid(at.child('optionalOldSelf'), rule.optionalOldSelf, text));
    }
  }
}

const shape = goShape("rule='' message='' messageExpression='' reason fieldPath='' optionalOldSelf");
const shown = (rule: ValidationRule) => goStruct(rule, shape);

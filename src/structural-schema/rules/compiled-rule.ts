import { previousRelease } from '../../config/version.js';
import { schemaType } from '../../cel/declared/schema-type.js';
import type { DeclaredType } from '../../cel/declared/declared-type.js';
import type { Environment } from '../../cel/environment.js';
import type { Program } from '../../cel/evaluate/program.js';
import { kubernetesEnvironment } from '../../cel/kubernetes.js';
import { optionalOf, types, type CelType } from '../../cel/types.js';
import { asItems, type Fields } from '../../machinery/fields.js';
import type { Steps } from '../../std/steps.js';
import { regexEngine } from './regex-engine.js';

export type { DeclaredType } from '../../cel/declared/declared-type.js';

/** A rule of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule?: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** A rule of `x-kubernetes-validations`, compiled. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Undefined for an empty rule. */
  readonly condition: CompiledExpression | undefined;
  /** The messageExpression; undefined if there is none. */
  readonly message: CompiledExpression | undefined;
}

export type CompiledExpression =
  | {
      readonly program: Program;
      readonly problem?: undefined;
      /** Cost of one evaluation at most, estimated from the sizes that the schema declares. */
      readonly costMax: bigint;
      /** True for transition rules, which compare with the old value. */
      readonly usesOldSelf: boolean;
    }
  | { readonly program?: undefined; readonly problem: string; readonly costMax: bigint; readonly usesOldSelf: boolean };

/** Expressions that the stored definition has: they may use what later releases introduced. */
export interface StoredExpressions {
  readonly rules: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
}

/** Returns the expressions of the rules of all these schemas. */
export function expressionsOf(schemas: readonly Fields[]): StoredExpressions {
  const rules = schemas.flatMap(rulesOf);
  return {
    rules: new Set(rules.map(({ rule = '' }) => rule)),
    messages: new Set(rules.map(({ messageExpression = '' }) => messageExpression)),
  };
}

/** Name of structs in messages; expressions cannot use it. */
const typeName = 'selfType1';

/** Returns the type of the values of a schema; undefined if expressions cannot see them. */
export function typeOfSchema(schema: Fields, isResource: boolean): DeclaredType | undefined {
  return schemaType(schema, typeName, isResource);
}

export function rulesOf(schema: Fields): readonly ValidationRule[] {
  return asItems(schema['x-kubernetes-validations']);
}

type Mode = 'new' | 'stored';

const [major, minor] = previousRelease.split('.').map(Number) as [number, number];

/** Compiles the rules of one schema, which share the type of `self`. */
export class RuleCompiler {
  private readonly environments = new Map<string, Environment>();

  /** Without `stored`, all expressions are those of a stored definition. */
  constructor(
    private readonly self: DeclaredType,
    private readonly stored?: StoredExpressions,
  ) {}

  *compile(rule: ValidationRule): Steps<CompiledRule> {
    const { rule: condition = '', messageExpression = '', optionalOldSelf = false } = rule;
    if (condition.trim() === '') return { rule, condition: undefined, message: undefined };
    const { stored } = this;
    const modeOf = (isStored: boolean | undefined): Mode => (isStored === false ? 'new' : 'stored');
    const own = this.environment(modeOf(stored?.rules.has(condition)), optionalOldSelf);
    return {
      rule,
      condition: yield* compileExpression(own, condition, types.bool, conditionTexts),
      message:
        messageExpression === ''
          ? undefined
          : yield* compileExpression(
              this.environment(modeOf(stored?.messages.has(messageExpression)), optionalOldSelf),
              messageExpression,
              types.string,
              messageTexts,
            ),
    };
  }

  private environment(mode: Mode, isOptional: boolean): Environment {
    const key = `${mode} ${isOptional}`;
    let environment = this.environments.get(key);
    if (!environment) {
      environment = kubernetesEnvironment({
        regex: regexEngine,
        compatibilityVersion: { major, minor },
        mode,
        variables: { self: this.self, oldSelf: isOptional ? optionalOf(this.self.type) : this.self },
      });
      this.environments.set(key, environment);
    }
    return environment;
  }
}

interface Texts {
  readonly compilation: string;
  readonly instantiation: string;
  readonly type: string;
}

const conditionTexts: Texts = {
  compilation: 'compilation failed',
  instantiation: 'program instantiation failed',
  type: 'cel expression must evaluate to a bool',
};
const messageTexts: Texts = {
  compilation: 'messageExpression compilation failed',
  instantiation: 'messageExpression instantiation failed',
  type: 'messageExpression must evaluate to a string',
};

function* compileExpression(
  environment: Environment,
  text: string,
  type: CelType,
  texts: Texts,
): Steps<CompiledExpression> {
  const compiled = yield* environment.compileInSteps(text);
  const failed = (problem: string, usesOldSelf = false): CompiledExpression => ({ problem, costMax: 0n, usesOldSelf });
  if (!compiled.isOk) return failed(`${texts.compilation}: ${compiled.message}`);
  const usesOldSelf = compiled.variables.has('oldSelf');
  if (!compiled.resultType.equals(type)) return failed(texts.type);
  if (compiled.program instanceof Error) return failed(`${texts.instantiation}: ${compiled.program.message}`);
  return { program: compiled.program, costMax: compiled.estimatedCost.max, usesOldSelf };
}

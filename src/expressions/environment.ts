import type { Environment, EnvironmentOptions } from '../cel/environment.js';
import type { Program } from '../cel/evaluate/program.js';
import { kubernetesEnvironment } from '../cel/kubernetes.js';
import { re2Engine } from '../cel/re2-engine.js';
import type { CelType } from '../cel/types.js';
import { previousRelease } from '../config/version.js';
import type { Steps } from '../std/steps.js';

/** 'new' expressions may use what the previous release has; 'stored' ones, which have not changed, may use everything. */
export type ExpressionMode = 'new' | 'stored';

/** The engine of all expressions in built-in fields, which keeps recently used patterns. */
const regex = re2Engine();
const [major, minor] = previousRelease.split('.').map(Number) as [number, number];

export function environmentOf(mode: ExpressionMode, options: EnvironmentOptions): Environment {
  return kubernetesEnvironment({ regex, compatibilityVersion: { major, minor }, mode, ...options });
}

/** An expression that compiles, with the types and the costs that it was compiled to. */
interface ValidExpression {
  readonly program: Program;
  readonly problem?: undefined;
  readonly resultType: CelType;
  /** Cost of one evaluation at most, estimated from the sizes that the types declare. */
  readonly costMax: bigint;
}

interface InvalidExpression {
  readonly program?: undefined;
  readonly problem: ExpressionProblem;
  /** Undefined if the types of the expression are wrong. */
  readonly resultType?: CelType | undefined;
}

export type CompiledExpression = ValidExpression | InvalidExpression;

interface ExpressionProblem {
  /** The text of the reference: `compilation failed: ERROR: …`. */
  readonly text: string;
  /** True for an expression whose types are right but that cannot be run. */
  readonly isInternal: boolean;
}

/** Compiles an expression in steps; `refuse` returns the problem of a wrong type of result. */
export function* compileExpression(
  environment: Environment,
  text: string,
  refuse: (resultType: CelType) => string | undefined,
  options?: Parameters<Environment['compile']>[1],
): Steps<CompiledExpression> {
  const compiled = yield* environment.compileInSteps(text, options);
  if (!compiled.isOk) return invalid(`compilation failed: ${compiled.message}`);
  const { resultType, program } = compiled;
  const problem = refuse(resultType);
  if (problem !== undefined) return invalid(problem);
  if (program instanceof Error) {
    return { problem: { text: `program instantiation failed: ${program.message}`, isInternal: true } };
  }
  return { program, resultType, costMax: compiled.estimatedCost.max };
}

const invalid = (text: string): InvalidExpression => ({ problem: { text, isInternal: false } });

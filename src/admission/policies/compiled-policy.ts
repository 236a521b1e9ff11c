import type { ParamKind, ValidatingAdmissionPolicy } from '../../catalog/types/admissionregistration.v1.js';
import { AdmissionCompiler, type AdmissionField } from '../../expressions/admission-compiler.js';
import type { CompiledExpression } from '../../expressions/environment.js';
import { isSet } from '../../machinery/fields.js';
import type { Steps } from '../../std/steps.js';
import type { PolicyExpression } from './evaluation.js';
import { RequestMatch } from './request-match.js';

export interface CompiledValidation extends PolicyExpression {
  /** Undefined without a messageExpression. */
  readonly messageExpression: PolicyExpression | undefined;
  readonly message: string;
  readonly reason: string | undefined;
}

export interface CompiledAnnotation extends PolicyExpression {
  readonly key: string;
}

/** A ValidatingAdmissionPolicy whose expressions and selectors are compiled. */
export interface CompiledPolicy {
  readonly name: string;
  readonly match: RequestMatch;
  /** Set if the policy could not be compiled as a whole. */
  readonly problem?: string;
  readonly ignoresErrors: boolean;
  readonly paramKind: ParamKind | undefined;
  readonly conditions: readonly PolicyExpression[];
  readonly variables: ReadonlyMap<string, CompiledExpression>;
  readonly validations: readonly CompiledValidation[];
  readonly auditAnnotations: readonly CompiledAnnotation[];
}

/** Returns a policy that refuses what it matches, for one whose compilation failed by an error of this server. */
export function brokenPolicy({ metadata, spec = {} }: ValidatingAdmissionPolicy, error: unknown): CompiledPolicy {
  return {
    name: metadata.name ?? '',
    match: new RequestMatch(spec.matchConstraints ?? {}),
    problem: `the policy cannot be compiled: ${String(error)}`,
    ignoresErrors: spec.failurePolicy === 'Ignore',
    paramKind: undefined,
    conditions: [],
    variables: new Map(),
    validations: [],
    auditAnnotations: [],
  };
}

/** Compiles a stored policy. Its expressions were validated, and may use everything that any release has. */
export function* compilePolicy({ metadata, spec = {} }: ValidatingAdmissionPolicy): Steps<CompiledPolicy> {
  const hasParams = isSet(spec.paramKind);
  const compiler = new AdmissionCompiler({ hasParams, hasVariables: (spec.variables ?? []).length > 0 });
  function* compiled(field: Exclude<AdmissionField, 'variable'>, text: string): Steps<PolicyExpression> {
    yield;
    return { text, compiled: yield* compiler.compile(field, text, 'stored') };
  }
  const conditions: PolicyExpression[] = [];
  for (const { expression = '' } of spec.matchConditions ?? []) {
    conditions.push(yield* compiled('matchCondition', expression));
  }
  const variables = new Map<string, CompiledExpression>();
  for (const { name = '', expression = '' } of spec.variables ?? []) {
    yield;
    variables.set(name, yield* compiler.compileVariable(name, expression, 'stored'));
  }
  const validations: CompiledValidation[] = [];
  for (const { expression = '', message = '', messageExpression = '', reason } of spec.validations ?? []) {
    const hasExpression = messageExpression.trim() !== '';
    validations.push({
      ...(yield* compiled('validation', expression)),
      messageExpression: hasExpression ? yield* compiled('message', messageExpression) : undefined,
      message: message.trim(),
      reason: reason ?? undefined,
    });
  }
  const auditAnnotations: CompiledAnnotation[] = [];
  for (const { key = '', valueExpression = '' } of spec.auditAnnotations ?? []) {
    auditAnnotations.push({ ...(yield* compiled('auditAnnotation', valueExpression)), key });
  }
  return {
    name: metadata.name ?? '',
    match: new RequestMatch(spec.matchConstraints ?? {}),
    ignoresErrors: spec.failurePolicy === 'Ignore',
    paramKind: spec.paramKind ?? undefined,
    conditions,
    variables,
    validations,
    auditAnnotations,
  };
}

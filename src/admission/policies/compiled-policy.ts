import type {
  MutatingAdmissionPolicy,
  ParamKind,
  ValidatingAdmissionPolicy,
} from '../../catalog/types/admissionregistration.v1.js';
import { AdmissionCompiler, type AdmissionField } from '../../expressions/admission-compiler.js';
import type { CompiledExpression } from '../../expressions/environment.js';
import { isSet } from '../../machinery/fields.js';
import type { Steps } from '../../std/steps.js';
import type { PolicyExpression } from './evaluation.js';
import { RequestMatch } from '../request/request-match.js';

export interface CompiledValidation extends PolicyExpression {
  /** Undefined without a messageExpression. */
  readonly messageExpression: PolicyExpression | undefined;
  readonly message: string;
  readonly reason: string | undefined;
}

export interface CompiledAnnotation extends PolicyExpression {
  readonly key: string;
}

/** The fields of both kinds of policies, with compiled expressions and selectors. */
export interface PolicyCore {
  readonly name: string;
  readonly match: RequestMatch;
  /** Set if the policy could not be compiled as a whole. */
  readonly problem?: string;
  readonly ignoresErrors: boolean;
  readonly paramKind: ParamKind | undefined;
  readonly conditions: readonly PolicyExpression[];
  readonly variables: ReadonlyMap<string, CompiledExpression>;
}

/** A ValidatingAdmissionPolicy. */
export interface CompiledPolicy extends PolicyCore {
  readonly validations: readonly CompiledValidation[];
  readonly auditAnnotations: readonly CompiledAnnotation[];
}

export interface CompiledMutation extends PolicyExpression {
  readonly patchType: 'applyConfiguration' | 'jsonPatch';
}

/** A MutatingAdmissionPolicy. */
export interface CompiledMutatingPolicy extends PolicyCore {
  readonly mutations: readonly CompiledMutation[];
  /** True if the policy runs again after changes by later policies. */
  readonly isReinvoked: boolean;
}

type AnyPolicy = ValidatingAdmissionPolicy | MutatingAdmissionPolicy;

/** Returns a policy that refuses what it matches, for one whose compilation failed by an error of this server. */
export function brokenPolicy(
  { metadata, spec = {} }: AnyPolicy,
  error: unknown,
): CompiledPolicy & CompiledMutatingPolicy {
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
    mutations: [],
    isReinvoked: false,
  };
}

type Compile = (field: Exclude<AdmissionField, 'variable'>, text: string) => Steps<PolicyExpression>;

/** Compiles a stored policy. Its expressions were validated, and may use everything that any release has. */
export function* compilePolicy(policy: ValidatingAdmissionPolicy): Steps<CompiledPolicy> {
  const { spec = {} } = policy;
  const { core, compile } = yield* compileCore(policy, (spec.variables ?? []).length > 0);
  const validations: CompiledValidation[] = [];
  for (const { expression = '', message = '', messageExpression = '', reason } of spec.validations ?? []) {
    const hasExpression = messageExpression.trim() !== '';
    validations.push({
      ...(yield* compile('validation', expression)),
      messageExpression: hasExpression ? yield* compile('message', messageExpression) : undefined,
      message: message.trim(),
      reason: reason ?? undefined,
    });
  }
  const auditAnnotations: CompiledAnnotation[] = [];
  for (const { key = '', valueExpression = '' } of spec.auditAnnotations ?? []) {
    auditAnnotations.push({ ...(yield* compile('auditAnnotation', valueExpression)), key });
  }
  return { ...core, validations, auditAnnotations };
}

/** Compiles a stored MutatingAdmissionPolicy. */
export function* compileMutatingPolicy(policy: MutatingAdmissionPolicy): Steps<CompiledMutatingPolicy> {
  const { spec = {} } = policy;
  const { core, compile } = yield* compileCore(policy, true);
  const mutations: CompiledMutation[] = [];
  for (const { applyConfiguration, jsonPatch, patchType: type } of spec.mutations ?? []) {
    const patchType = type === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration';
    const { expression = '' } = (patchType === 'jsonPatch' ? jsonPatch : applyConfiguration) ?? {};
    mutations.push({ ...(yield* compile(patchType, expression)), patchType });
  }
  return { ...core, mutations, isReinvoked: spec.reinvocationPolicy === 'IfNeeded' };
}

function* compileCore(
  { metadata, spec = {} }: AnyPolicy,
  hasVariables: boolean,
): Steps<{ readonly core: PolicyCore; readonly compile: Compile }> {
  const compiler = new AdmissionCompiler({ hasParams: isSet(spec.paramKind), hasVariables });
  function* compile(field: Exclude<AdmissionField, 'variable'>, text: string): Steps<PolicyExpression> {
    yield;
    return { text, compiled: yield* compiler.compile(field, text, 'stored') };
  }
  const conditions: PolicyExpression[] = [];
  for (const { expression = '' } of spec.matchConditions ?? []) {
    conditions.push(yield* compile('matchCondition', expression));
  }
  const variables = new Map<string, CompiledExpression>();
  for (const { name = '', expression = '' } of spec.variables ?? []) {
    yield;
    variables.set(name, yield* compiler.compileVariable(name, expression, 'stored'));
  }
  const core = {
    name: metadata.name ?? '',
    match: new RequestMatch(spec.matchConstraints ?? {}),
    ignoresErrors: spec.failurePolicy === 'Ignore',
    paramKind: spec.paramKind ?? undefined,
    conditions,
    variables,
  };
  return { core, compile };
}

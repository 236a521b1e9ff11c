import { stringifyJson } from '../../codec/json.js';
import { ApiError, statusCodeOfReason } from '../../machinery/api-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { AdmissionAttributes } from '../admission-plugin.js';
import type { CompiledPolicy } from './compiled-policy.js';
import { awaited, runAwaiting, type Awaiting } from '../../std/awaiting.js';
import { untilReady } from '../../std/not-ready.js';
import { ConfigurationError } from '../request/configuration-error.js';
import { evaluatePolicy, passed, type PolicyFailure, type PolicyResult } from './evaluate-policy.js';
import type { BoundPolicy, CompiledBinding } from './policy-book.js';
import type { ParamResource } from './policy-objects.js';
import { errorTypeOf } from './policy-observer.js';
import { paramResourceOf, paramsOf } from './policy-params.js';
import type { MatchedRequest } from '../request/matched-request.js';
import { conditionIsFalse, PolicyTrace } from './trace-policy.js';
import { RequestEvaluation, type EvaluationDependencies } from './request-evaluation.js';
import type { RequestForm } from '../request/request-form.js';

/** A policy whose rules select the request in a version of its resource. */
export interface SelectedPolicy extends BoundPolicy {
  readonly form: RequestForm;
}

/** A refusal by a policy. */
interface Denial {
  readonly policy: string;
  /** Undefined if the policy itself is wrong. */
  readonly binding?: string;
  readonly message: string;
  readonly reason?: string | undefined;
}

type Annotations = Map<string, Set<string>>;
const noAnnotations: Annotations = new Map();
const withoutParams = [undefined];

/** An audit annotation is cut to this length. */
const annotationCharactersMax = 10 * 1024;

/** Evaluates policies for one request. */
export class PolicyEnforcement {
  private readonly denials: Denial[] = [];
  private readonly evaluations: RequestEvaluation;
  private readonly trace: PolicyTrace;

  constructor(
    private readonly request: MatchedRequest,
    private readonly dependencies: EvaluationDependencies,
  ) {
    this.evaluations = new RequestEvaluation(request, dependencies);
    this.trace = new PolicyTrace(request, 'ValidatingAdmissionPolicy');
  }

  /** Throws the first refusal, after all policies were evaluated: others may warn. */
  enforce(policies: readonly SelectedPolicy[]): void | Promise<void> {
    return runAwaiting(this.enforceAll(policies));
  }

  private *enforceAll(policies: readonly SelectedPolicy[]): Awaiting<void> {
    for (const { policy, bindings, form } of policies) {
      const pausing = this.evaluations.pauseIfDue();
      if (pausing) yield pausing;
      yield* this.enforcePolicy(policy, bindings, form);
    }
    const [first] = this.denials;
    if (first) throw refusal(this.request.attributes, first);
  }

  private *enforcePolicy(
    policy: CompiledPolicy,
    bindings: readonly CompiledBinding[],
    form: RequestForm,
  ): Awaiting<void> {
    // Promises are yielded here without awaited(), whose generators cost more than the work of most policies.
    const annotations: Annotations =
      policy.auditAnnotations.length === 0 ? noAnnotations : new Map<string, Set<string>>();
    try {
      const selecting = policy.match.selectsNamespace(this.request);
      const isInNamespace = selecting instanceof Promise ? yield selecting : selecting;
      if (!isInNamespace) return this.trace.skip(policy.name, undefined, true);
      if (policy.problem !== undefined) throw new ConfigurationError(policy.problem);
      const { signal } = this.request.attributes.request;
      const params = policy.paramKind
        ? yield* awaited(paramResourceOf(policy.paramKind, this.dependencies.policyObjects, signal))
        : undefined;
      for (const binding of bindings) yield* this.enforceBinding(policy, binding, form, params, annotations);
    } catch (error) {
      this.refuseForConfiguration(policy, undefined, error);
    }
    this.publish(policy, annotations);
  }

  private *enforceBinding(
    policy: CompiledPolicy,
    binding: CompiledBinding,
    form: RequestForm,
    resource: ParamResource | undefined,
    annotations: Annotations,
  ): Awaiting<void> {
    let params: readonly (KubeObject | undefined)[];
    try {
      const isRuleMatch = binding.match.formOf(this.request) !== undefined;
      const selecting = isRuleMatch && binding.match.selectsNamespace(this.request);
      const isInNamespace = selecting instanceof Promise ? yield selecting : selecting;
      if (!isInNamespace) return this.trace.skip(policy.name, binding.name, isRuleMatch);
      params = resource
        ? yield* awaited(untilReady(() => paramsOf(resource, binding.paramRef, this.request.namespace)))
        : withoutParams;
    } catch (error) {
      this.refuseForConfiguration(policy, binding, error);
      return;
    }
    for (const param of params) {
      const result = yield* this.evaluate(policy, form, param);
      this.trace.trace?.part({ ...this.trace.partOf(policy.name, binding.name), ...tracedResult(binding, result) });
      if (result === passed) continue;
      this.apply(policy, binding, result);
      for (const { key, value } of result.annotations) {
        const values = annotations.get(key) ?? new Set();
        annotations.set(key, values.add(value.slice(0, annotationCharactersMax)));
      }
    }
  }

  private *evaluate(policy: CompiledPolicy, form: RequestForm, param: KubeObject | undefined): Awaiting<PolicyResult> {
    const known = this.request.knownObject(form);
    let object = known ?? null;
    if (known === undefined) {
      const { steps } = this.request.attributes.request;
      object = yield* awaited(untilReady(() => this.request.object('object', form), steps?.trace));
      const pausing = this.evaluations.pauseIfDue();
      if (pausing) yield pausing;
    }
    const evaluation =
      this.evaluations.sharedOf(policy, form, param, object) ??
      (yield* this.evaluations.of(policy, form, param, object));
    const { clock } = this.dependencies;
    if (policy.conditions.length === 0) return yield* evaluatePolicy(policy, evaluation, undefined, clock);
    return yield* evaluatePolicy(
      policy,
      evaluation,
      {
        ofConditions: () => this.evaluations.ofConditions(form, param, object),
        conditionsEvaluated: (seconds, isFailed) =>
          this.dependencies.policyObserver.conditionsEvaluated(
            policy.name,
            this.request.attributes.operation,
            seconds,
            isFailed,
          ),
      },
      clock,
    );
  }

  /** Does with each failure what the binding says. */
  private apply(policy: CompiledPolicy, binding: CompiledBinding, result: PolicyResult): void {
    const { warnings } = this.request.attributes.request;
    const denial = { policy: policy.name, binding: binding.name };
    const count = (action: 'allow' | 'audit' | 'deny' | 'warn', message: string, seconds: number) =>
      this.dependencies.policyObserver.validated({ ...denial, action, errorType: errorTypeOf(message) }, seconds);
    for (const { message, seconds } of result.ignored) count('allow', message, seconds);
    for (const failure of result.failures) {
      const { message, reason, seconds } = failure;
      if (binding.actions.has('Deny')) {
        this.denials.push({ ...denial, message, reason });
        count('deny', message, seconds);
      }
      if (binding.actions.has('Audit')) {
        this.audit(policy, binding, failure);
        count('audit', message, seconds);
      }
      if (binding.actions.has('Warn')) {
        count('warn', message, seconds);
        const subject = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`;
        warnings.push(`Validation failed for ${subject}: ${message}`);
      }
    }
    for (const { message, seconds } of result.annotationErrors) {
      this.denials.push({ ...denial, message });
      count('deny', message, seconds);
    }
  }

  private audit(policy: CompiledPolicy, binding: CompiledBinding, { message, index }: PolicyFailure): void {
    const { auditAnnotations } = this.request.attributes.request;
    const key = `validation.policy.admission.${this.dependencies.naming.apiDomain}/validation_failure`;
    // The first failure is kept, as in kube-apiserver.
    if (auditAnnotations.has(key)) return;
    const failure = {
      message,
      policy: policy.name,
      binding: binding.name,
      expressionIndex: index,
      validationActions: binding.actionList,
    };
    auditAnnotations.set(key, stringifyJson([failure]));
  }

  private publish(policy: CompiledPolicy, annotations: ReadonlyMap<string, ReadonlySet<string>>): void {
    if (annotations.size === 0) return;
    const { auditAnnotations } = this.request.attributes.request;
    for (const [key, values] of annotations) auditAnnotations.set(`${policy.name}/${key}`, [...values].join(', '));
  }

  /** Counts a wrong configuration, or a namespace that does not exist, as an error of the policy. */
  private refuseForConfiguration(policy: CompiledPolicy, binding: CompiledBinding | undefined, error: unknown): void {
    if (!(error instanceof ConfigurationError || (error instanceof ApiError && error.reason === 'NotFound')))
      throw error;
    if (policy.ignoresErrors) return;
    const what = binding ? 'binding' : 'policy';
    const message = `failed to configure ${what}: ${error.message}`;
    this.denials.push({ policy: policy.name, ...(binding && { binding: binding.name }), message });
  }
}

type Reason = keyof typeof statusCodeOfReason;

/** Returns the error in which kube-apiserver reports a denial: the text of a Forbidden error with another reason. */
function refusal(attributes: AdmissionAttributes, { policy, binding, message, reason }: Denial): ApiError {
  const subject = `ValidatingAdmissionPolicy '${policy}'${binding === undefined ? '' : ` with binding '${binding}'`}`;
  const text = `${subject} denied request: ${message}`;
  const { resource, served } = attributes;
  const requested = served ? { group: served.definition.group, resource: served.definition.plural } : resource;
  const name = attributes.name || 'Unknown';
  const forbidden = ApiError.forbidden(requested, name, text, [{ message: text }]);
  const known = reason !== undefined && Object.hasOwn(statusCodeOfReason, reason) ? (reason as Reason) : 'Invalid';
  return new ApiError({ reason: known, message: forbidden.message, details: forbidden.details! });
}

function tracedResult({ actionList }: CompiledBinding, { isExcluded, failures, annotationErrors }: PolicyResult) {
  if (isExcluded) return { skipped: conditionIsFalse };
  const messages = [...failures, ...annotationErrors].map(({ message }) => message);
  return messages.length > 0 ? { message: `${actionList.join(', ')}: ${messages.join('; ')}` } : {};
}

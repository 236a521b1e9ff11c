import { ApiError } from '../../machinery/api-error.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { AdmissionAttributes } from '../admission-plugin.js';
import { applyMutation, MutationError } from './apply-mutation.js';
import type { CompiledMutatingPolicy, CompiledMutation } from './compiled-policy.js';
import { runAwaiting } from '../../std/awaiting.js';
import { untilReady } from '../../std/not-ready.js';
import { ConfigurationError } from '../request/configuration-error.js';
import { measuredConditions, validationCostMax } from './evaluate-policy.js';
import { Budget, OutOfBudget } from './evaluation.js';
import type { BoundPolicy, CompiledBinding } from './policy-book.js';
import { errorTypeOf } from './policy-observer.js';
import { paramResourceOf, paramsOf } from './policy-params.js';
import type { MatchedRequest } from '../request/matched-request.js';
import { conditionIsFalse, PolicyTrace } from './trace-policy.js';
import { RequestEvaluation, type EvaluationDependencies } from './request-evaluation.js';
import type { Reinvocation } from '../request/reinvocation.js';
import { replaceObject } from '../request/replace-object.js';
import type { RequestForm } from '../request/request-form.js';

/** A policy whose rules select the request in a version of its resource. */
interface SelectedMutation extends BoundPolicy<CompiledMutatingPolicy> {
  readonly form: RequestForm;
}

/** A policy with a binding and a param, in force for a request. */
interface Invocation {
  readonly key: string;
  readonly policy: CompiledMutatingPolicy;
  readonly binding: CompiledBinding;
  readonly param: KubeObject | undefined;
  readonly form: RequestForm;
}

interface Refusal {
  readonly policy: CompiledMutatingPolicy;
  readonly binding?: CompiledBinding;
  readonly message: string;
  readonly reason: 'Invalid' | 'Forbidden';
}

/** Applies mutating policies to the object of one request, in place. */
export class PolicyMutation {
  private readonly evaluations: RequestEvaluation;
  private readonly trace: PolicyTrace;
  private readonly refusals: Refusal[] = [];

  constructor(
    private readonly request: MatchedRequest,
    private readonly dependencies: EvaluationDependencies,
    private readonly reinvocation: Reinvocation,
  ) {
    this.evaluations = new RequestEvaluation(request, dependencies);
    this.trace = new PolicyTrace(request, 'MutatingAdmissionPolicy');
  }

  /** Runs all invocations, or only those that are due again. Throws the first refusal. */
  async run(selected: readonly SelectedMutation[], isReinvocation: boolean): Promise<void> {
    // Selects them all by the submitted object before the first one changes it.
    const invocations: Invocation[] = [];
    for (const one of selected) invocations.push(...(await this.invocationsOf(one)));
    for (const invocation of invocations) {
      if (isReinvocation && !this.reinvocation.isDue(invocation.key)) continue;
      await this.evaluations.pauseIfDue();
      await this.invoke(invocation);
    }
    const [first] = this.refusals;
    if (first) throw refusal(this.request.attributes, first);
  }

  private async invocationsOf({ policy, bindings, form }: SelectedMutation): Promise<Invocation[]> {
    const invocations: Invocation[] = [];
    try {
      if (!(await policy.match.selectsNamespace(this.request))) {
        this.trace.skip(policy.name, undefined, true);
        return [];
      }
      if (policy.problem !== undefined) throw new ConfigurationError(policy.problem);
      const { signal } = this.request.attributes.request;
      const resource = await paramResourceOf(policy.paramKind, this.dependencies.policyObjects, signal);
      for (const binding of bindings) {
        try {
          const isRuleMatch = binding.match.formOf(this.request) !== undefined;
          if (!isRuleMatch || !(await binding.match.selectsNamespace(this.request))) {
            this.trace.skip(policy.name, binding.name, isRuleMatch);
            continue;
          }
          for (const param of await untilReady(() => paramsOf(resource, binding.paramRef, this.request.namespace))) {
            const { namespace = '', name = '' } = param?.metadata ?? {};
            const key = [policy.name, binding.name, namespace, name].join('/');
            invocations.push({ key, policy, binding, param, form });
          }
        } catch (error) {
          this.refuseForConfiguration(policy, binding, error);
        }
      }
    } catch (error) {
      this.refuseForConfiguration(policy, undefined, error);
    }
    return invocations;
  }

  private async invoke(invocation: Invocation): Promise<void> {
    const { policy, binding } = invocation;
    if (policy.isReinvoked) this.reinvocation.add(invocation.key);
    try {
      if (await this.tracedMutation(invocation)) this.reinvocation.noteChange();
    } catch (error) {
      this.refuseForMutation(policy, binding, error);
    }
  }

  private async tracedMutation(invocation: Invocation): Promise<boolean> {
    const { trace } = this.trace;
    if (!trace) return (await this.mutate(invocation)) === true;
    let outcome: boolean | 'excluded' = false;
    const part = this.trace.partOf(invocation.policy.name, invocation.binding.name);
    await trace.run(part, this.request.attributes.object, async () => {
      outcome = await this.mutate(invocation);
      return outcome === 'excluded' ? conditionIsFalse : undefined;
    });
    return (outcome as boolean | 'excluded') === true;
  }

  /**
   * Returns true if the policy has changed the object, `excluded` if a match condition is false. Each mutation sees the
   * result of the one before.
   */
  private async mutate(invocation: Invocation): Promise<boolean | 'excluded'> {
    const { policy, param, form } = invocation;
    const { attributes } = this.request;
    let view = await untilReady(() => form.present(attributes.object!), attributes.request.steps?.trace);
    await this.evaluations.pauseIfDue();
    // A namespace that does not exist refuses the request, whatever the conditions say.
    await runAwaiting(this.evaluations.of(policy, form, param, view));
    const { clock, policyObserver } = this.dependencies;
    const conditionsRun = {
      ofConditions: () => this.evaluations.ofConditions(form, param, view),
      conditionsEvaluated: (seconds: number, isFailed: boolean) =>
        policyObserver.conditionsEvaluated(policy.name, attributes.operation, seconds, isFailed),
    };
    const holds = await runAwaiting(measuredConditions(policy, conditionsRun, clock));
    if (typeof holds === 'string') throw new MutationError(holds);
    if (!holds) return 'excluded';
    let hasChanged = false;
    for (const mutation of policy.mutations) {
      if (!(await this.mutateOnce(mutation, invocation, view))) continue;
      view = await untilReady(() => form.present(attributes.object!), attributes.request.steps?.trace);
      hasChanged = true;
    }
    return hasChanged;
  }

  /** Returns true if the mutation has changed the object. A failure does not keep the next mutations from running. */
  private async mutateOnce(mutation: CompiledMutation, invocation: Invocation, view: KubeObject): Promise<boolean> {
    const { policy, binding, param, form } = invocation;
    const { clock, policyObserver } = this.dependencies;
    const beginMs = clock.monotonicMs();
    let failure: string | undefined;
    try {
      const evaluation = await runAwaiting(this.evaluations.of(policy, form, param, view));
      const result = await evaluation.result(mutation, new Budget(validationCostMax));
      if (result.error !== undefined) throw new MutationError(result.error);
      const changed = await this.evaluations.run(applyMutation(mutation, result.value, view, form));
      if (changed === (view as unknown) || deepEqual(changed, view)) return false;
      await this.evaluations.pauseIfDue();
      await replaceObject(this.request, form, changed);
      return true;
    } catch (error) {
      failure = error instanceof Error ? error.message : '';
      this.refuseForMutation(policy, binding, error);
      return false;
    } finally {
      const errorType = failure === undefined ? 'no_error' : errorTypeOf(failure);
      const check = { policy: policy.name, binding: binding.name, errorType } as const;
      policyObserver.mutated(check, (clock.monotonicMs() - beginMs) / 1000);
    }
  }

  private refuseForMutation(policy: CompiledMutatingPolicy, binding: CompiledBinding, error: unknown): void {
    if (!(error instanceof MutationError || error instanceof OutOfBudget)) throw error;
    if (!policy.ignoresErrors) this.refusals.push({ policy, binding, message: error.message, reason: 'Invalid' });
  }

  private refuseForConfiguration(
    policy: CompiledMutatingPolicy,
    binding: CompiledBinding | undefined,
    error: unknown,
  ): void {
    if (!(error instanceof ConfigurationError || (error instanceof ApiError && error.reason === 'NotFound')))
      throw error;
    if (policy.ignoresErrors) return;
    const message = `failed to configure ${binding ? 'binding' : 'policy'}: ${error.message}`;
    this.refusals.push({ policy, ...(binding && { binding }), message, reason: 'Forbidden' });
  }
}

function refusal(attributes: AdmissionAttributes, { policy, binding, message, reason }: Refusal): ApiError {
  const { resource, served, name } = attributes;
  const requested = served ? { group: served.definition.group, resource: served.definition.plural } : resource;
  const text = `policy '${policy.name}'${binding ? ` with binding '${binding.name}'` : ''} denied request: ${message}`;
  const { details } = ApiError.forbidden(requested, name || 'Unknown', text, [{ message: text }]);
  return new ApiError({ reason, code: 403, message: text, details: details! });
}

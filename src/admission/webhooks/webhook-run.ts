import { ApiError } from '../../machinery/api-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { runAwaiting } from '../../std/awaiting.js';
import { ConfigurationError } from '../request/configuration-error.js';
import type { MatchedRequest } from '../request/matched-request.js';
import type { RequestForm } from '../request/request-form.js';
import { conditionsHold } from '../policies/evaluate-policy.js';
import { OutOfBudget } from '../policies/evaluation.js';
import { RequestEvaluation, type EvaluationDependencies } from '../policies/request-evaluation.js';
import { CallFailure, callWebhook, denial, failedClosed, type CallDependencies } from './call-webhook.js';
import type { AdmissionResponse } from './admission-review.js';
import type { CompiledWebhook } from './compiled-webhook.js';
import { ReviewTexts } from './review-text.js';
import type { RejectionType, WebhookLabels, WebhookType } from './webhook-dependencies.js';

export type RunDependencies = EvaluationDependencies & CallDependencies;

/** One warning in this time tells of all failures of a webhook: one that is down fails every request. */
const logIntervalMs = 10_000;
const loggedAt = new WeakMap<CompiledWebhook, number>();

/** Calls webhooks for one request. */
export class WebhookRun {
  readonly evaluations: RequestEvaluation;
  private readonly reviews: ReviewTexts;

  constructor(
    readonly request: MatchedRequest,
    private readonly dependencies: RunDependencies,
    private readonly type: WebhookType,
  ) {
    this.evaluations = new RequestEvaluation(request, dependencies);
    this.reviews = new ReviewTexts(request, dependencies.naming);
  }

  /** True if namespaceSelector and matchConditions select the request, in a version that the rules select. */
  async selects(webhook: CompiledWebhook, form: RequestForm, object: KubeObject | null): Promise<boolean> {
    try {
      const inNamespace = webhook.match.selectsNamespace(this.request);
      if (!(typeof inNamespace === 'boolean' ? inNamespace : await inNamespace)) {
        return this.skip(webhook, 'namespaceSelector does not select the namespace');
      }
    } catch (error) {
      if (error instanceof ConfigurationError) throw ApiError.internal(error.message);
      throw error;
    }
    if (webhook.conditions.length === 0 || (await this.meetsConditions(webhook, form, object))) return true;
    return this.skip(webhook, 'matchConditions do not hold');
  }

  /** Returns the version of the resource in which rules and objectSelector select the request. */
  formOf(webhook: CompiledWebhook): RequestForm | undefined {
    const form = webhook.match.formOf(this.request);
    if (!form) this.skip(webhook, 'rules or objectSelector do not select the request');
    return form;
  }

  private skip(webhook: CompiledWebhook, skipped: string): false {
    this.request.attributes.request.trace?.part({ ...this.partOf(webhook), skipped });
    return false;
  }

  private partOf({ configuration, name }: CompiledWebhook) {
    const kind = this.type === 'admit' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration';
    return { kind, name: configuration, member: name };
  }

  /**
   * Calls a webhook. Returns undefined if the call failed and failurePolicy is Ignore. Rejects if the webhook denies the
   * request, or if the call failed. `use` runs with the response of a webhook that allows the request.
   */
  async call<T>(
    webhook: CompiledWebhook,
    form: RequestForm,
    object: KubeObject | null,
    position: string,
    use: (response: AdmissionResponse) => T | Promise<T>,
  ): Promise<T | undefined> {
    const { trace } = this.request.attributes.request;
    if (!trace) return this.measuredCall(webhook, form, object, position, use);
    let result: T | undefined;
    await trace.run(this.partOf(webhook), this.request.attributes.object, async () => {
      result = await this.measuredCall(webhook, form, object, position, use);
    });
    return result;
  }

  private async measuredCall<T>(
    webhook: CompiledWebhook,
    form: RequestForm,
    object: KubeObject | null,
    position: string,
    use: (response: AdmissionResponse) => T | Promise<T>,
  ): Promise<T | undefined> {
    const { clock, webhooks } = this.dependencies;
    const { observer } = webhooks;
    const labels = this.labelsOf(webhook);
    const beginMs = clock.monotonicMs();
    const end = (isRejected: boolean, code: number, rejection?: RejectionType) => {
      observer.called(labels, (clock.monotonicMs() - beginMs) / 1000, isRejected, code);
      if (rejection !== undefined) observer.rejected(labels, rejection, code);
    };
    try {
      const mutates = this.type === 'admit';
      const { request, reviews } = this;
      const response = await callWebhook({ webhook, request, reviews, form, object, mutates }, this.dependencies);
      if (!response.isAllowed) {
        const denied = denial(webhook, response.status);
        end(true, denied.code, 'no_error');
        throw new Denied(denied);
      }
      const used = await use(response);
      end(false, 200);
      return used;
    } catch (error) {
      if (error instanceof Denied) throw error.cause;
      if (!(error instanceof CallFailure)) {
        end(true, error instanceof ApiError ? error.code : 500, 'apiserver_internal_error');
        throw error;
      }
      this.logFailure(webhook, error);
      if (!webhook.ignoresErrors) {
        end(true, error.code, 'calling_webhook_error');
        throw failedClosed(error);
      }
      end(false, error.code);
      observer.failedOpen(labels);
      this.annotateFailure(webhook, position);
      this.checkCancelled();
      return undefined;
    }
  }

  checkCancelled(): void {
    const { signal } = this.request.attributes.request;
    if (signal?.aborted) throw signal.reason;
  }

  private async meetsConditions(
    webhook: CompiledWebhook,
    form: RequestForm,
    object: KubeObject | null,
  ): Promise<boolean> {
    const { clock, webhooks } = this.dependencies;
    const beginMs = clock.monotonicMs();
    const result = await this.conditionsOf(webhook, form, object);
    const outcome = result === true ? 'matches' : result === false ? 'excluded' : 'failed';
    webhooks.observer.conditionsEvaluated(this.labelsOf(webhook), (clock.monotonicMs() - beginMs) / 1000, outcome);
    if (typeof result === 'boolean') return result;
    if (webhook.ignoresErrors) return false;
    const { resource, name } = this.request.attributes;
    const { served } = this.request.attributes;
    throw ApiError.forbidden({ group: served.definition.group, resource: resource.resource }, name, result);
  }

  /** Returns the text of an error. */
  private async conditionsOf(
    { conditions }: CompiledWebhook,
    form: RequestForm,
    object: KubeObject | null,
  ): Promise<boolean | string> {
    try {
      await this.evaluations.pauseIfDue();
      const evaluation = await runAwaiting(this.evaluations.ofConditions(form, undefined, object));
      return await runAwaiting(conditionsHold({ conditions }, evaluation));
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      return error.message;
    }
  }

  private annotateFailure(webhook: CompiledWebhook, position: string): void {
    const { auditAnnotations } = this.request.attributes.request;
    const kind = this.type === 'admit' ? 'mutating' : 'validating';
    const { apiDomain } = this.dependencies.naming;
    auditAnnotations.set(`failed-open.${kind}.webhook.admission.${apiDomain}/${position}`, webhook.name);
  }

  private logFailure(webhook: CompiledWebhook, { message }: CallFailure): void {
    const { clock, webhooks } = this.dependencies;
    const nowMs = clock.monotonicMs();
    if (nowMs < (loggedAt.get(webhook) ?? -Infinity) + logIntervalMs) return;
    loggedAt.set(webhook, nowMs);
    const effect = webhook.ignoresErrors ? 'writes go on without it' : 'writes that it selects fail';
    webhooks.logger.warn(`an admission webhook could not be asked, so ${effect}; check it and its configuration`, {
      configuration: webhook.configuration,
      webhook: webhook.name,
      error: message,
    });
  }

  private labelsOf({ name }: CompiledWebhook): WebhookLabels {
    return { name, type: this.type, operation: this.request.attributes.operation };
  }
}

/** Leaves call() with a denial that is counted. */
class Denied extends Error {
  constructor(override readonly cause: ApiError) {
    super(cause.message);
  }
}

import { decodeJson, decodeJsonInSteps } from '../../codec/json.js';
import { hasMoreJsonValues } from '../../codec/value-budget.js';
import { ApiError, statusCodeOfReason } from '../../machinery/api-error.js';
import { goQuote } from '../../machinery/go-quote.js';
import { qualifiedResource } from '../../machinery/gvk.js';
import type { JsonValue, KubeObject } from '../../machinery/kube-object.js';
import { DecodeError } from '../../std/decode-error.js';
import { untilReady } from '../../std/not-ready.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { WebhookCallError } from '../../webhook-client/webhook-call-error.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import type { MatchedRequest } from '../request/matched-request.js';
import type { RequestForm } from '../request/request-form.js';
import {
  InvalidResponse,
  readReview,
  reviewWith,
  type AdmissionResponse,
  type DenialStatus,
} from './admission-review.js';
import type { CompiledWebhook } from './compiled-webhook.js';
import type { ReviewTexts } from './review-text.js';

export type CallDependencies = Pick<PluginDependencies, 'naming' | 'clock' | 'rng' | 'webhooks'>;

/** A call without a usable answer: what failurePolicy decides about. */
export class CallFailure extends Error {
  constructor(
    { name }: CompiledWebhook,
    reason: string,
    /** Status for metrics. */
    readonly code: number,
  ) {
    super(`failed calling webhook ${goQuote(name)}: ${reason}`);
  }
}

interface Call {
  readonly webhook: CompiledWebhook;
  readonly request: MatchedRequest;
  readonly reviews: ReviewTexts;
  readonly form: RequestForm;
  readonly object: KubeObject | null;
  readonly mutates: boolean;
}

/** Longer answers are decoded in steps. */
const decodedAtOnceBytesMax = 64 * 1024;
const badRequest = 400;
const unavailable = 503;

/**
 * Sends an AdmissionReview and returns the response, after its warnings and audit annotations were added to the request.
 * Rejects with CallFailure, with the ApiError of a dry run that the webhook does not support, or with the reason for which
 * the request was cancelled.
 */
export async function callWebhook(call: Call, dependencies: CallDependencies): Promise<AdmissionResponse> {
  const { webhook, request } = call;
  const { dryRun, warnings, auditAnnotations } = request.attributes.request;
  if (dryRun && webhook.allowsDryRun !== true) {
    if (webhook.allowsDryRun === undefined) throw new CallFailure(webhook, 'Webhook SideEffects is nil', badRequest);
    throw ApiError.badRequest(`admission webhook ${goQuote(webhook.name)} does not support dry run`);
  }
  const response = await answerOf(call, dependencies);
  for (const [key, value] of response.auditAnnotations) auditAnnotations.set(`${webhook.name}/${key}`, value);
  for (const warning of response.warnings) warnings.push(warning);
  return response;
}

async function answerOf(
  { webhook, request, reviews, form, object, mutates }: Call,
  { naming, clock, rng, webhooks }: CallDependencies,
): Promise<AdmissionResponse> {
  const { reviewVersion: version, client } = webhook;
  if (version === undefined) {
    const problem = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)';
    throw new CallFailure(webhook, `could not create admission objects: ${problem}`, badRequest);
  }
  if (typeof client === 'string') throw new CallFailure(webhook, `could not get REST client: ${client}`, badRequest);
  const uid = rng.uuid();
  const apiVersion = `${naming.group('admission')}/${version}`;
  const { signal, steps, user } = request.attributes.request;
  const oldObject = request.attributes.old ? await untilReady(() => request.object('old', form), steps?.trace) : null;
  const span = steps?.trace?.beginCall(mutates ? 'Call mutating webhook' : 'Call validating webhook', {
    configuration: webhook.configuration,
    webhook: webhook.name,
    ...spanAttributes(request),
    UID: uid,
  });
  let failure: string | undefined = 'no answer';
  const beginMs = clock.monotonicMs();
  let answer: JsonValue;
  try {
    const { timeoutSeconds } = webhook;
    const review = reviews.review({ uid, apiVersion, form, object, oldObject });
    const injected = webhooks.injectCall?.(
      {
        kind: mutates ? 'mutating' : 'validating',
        configuration: webhook.configuration,
        name: webhook.name,
        user: user.name,
      },
      (decision) => reviewWith(decision, { uid, apiVersion }),
    );
    const body = await client.post(review, { timeoutSeconds, signal, headers: span?.headers, injected });
    failure = undefined;
    span?.event('Request completed');
    // Before the answer is parsed, since that cannot be interrupted.
    if (hasMoreJsonValues(body, webhooks.valuesMax)) {
      const problem = `the answer has more than ${webhooks.valuesMax} values`;
      throw new CallFailure(webhook, `received invalid webhook response: ${problem}`, unavailable);
    }
    answer =
      body.length <= decodedAtOnceBytesMax
        ? decodeJson(body)
        : await new YieldTimer(clock).run(decodeJsonInSteps(body.toString('utf8')));
  } catch (error) {
    if (error instanceof WebhookCallError) {
      failure = error.message;
      webhooks.logger.debug('a webhook could not be called', { webhook: webhook.name, error: error.message });
      throw new CallFailure(webhook, `failed to call webhook: ${error.message}`, error.code);
    }
    if (!(error instanceof DecodeError)) throw error;
    throw new CallFailure(webhook, "failed to call webhook: couldn't get version/kind; json parse error", unavailable);
  } finally {
    steps?.part(webhook.name, clock.monotonicMs() - beginMs);
    span?.end(failure);
  }
  try {
    return readReview(answer, { uid, apiVersion, mutates });
  } catch (error) {
    if (!(error instanceof InvalidResponse)) throw error;
    throw new CallFailure(webhook, `received invalid webhook response: ${error.message}`, unavailable);
  }
}

function spanAttributes({ attributes: { resource, subresource, operation } }: MatchedRequest) {
  return { resource: qualifiedResource(resource.group, resource.resource), subresource, operation };
}

const codeMax = 999;
const isReason = (reason: string): reason is keyof typeof statusCodeOfReason =>
  Object.hasOwn(statusCodeOfReason, reason);

/** Returns the Status of a denial: that of the webhook, as a failure, with the name of the webhook in its message. */
export function denial(webhook: CompiledWebhook, status: DenialStatus | undefined): ApiError {
  const { code = 0, reason = '', message = '', details } = status ?? {};
  const denied = `admission webhook ${goQuote(webhook.name)} denied the request`;
  const explanation = message || reason;
  return new ApiError({
    reason: isReason(reason) ? reason : 'BadRequest',
    sentReason: reason,
    code: code < badRequest || code > codeMax ? badRequest : code,
    message: explanation === '' ? `${denied} without explanation` : `${denied}: ${explanation}`,
    ...(details && { details }),
    isExternal: true,
  });
}

/** Returns the error of a request whose webhook failed. */
export const failedClosed = (failure: CallFailure): ApiError => ApiError.external(failure.message);

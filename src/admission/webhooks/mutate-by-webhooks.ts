import { decodeJsonInSteps } from '../../codec/json.js';
import { hasMoreJsonValues } from '../../codec/value-budget.js';
import { ApiError } from '../../machinery/api-error.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { goQuote } from '../../machinery/go-quote.js';
import type { JsonValue, KubeObject } from '../../machinery/kube-object.js';
import { jsonPatchInSteps } from '../../patch/json-patch.js';
import { untilReady } from '../../std/not-ready.js';
import { DecodeError } from '../../std/decode-error.js';
import type { MatchedRequest } from '../request/matched-request.js';
import { replaceObject } from '../request/replace-object.js';
import type { RequestForm } from '../request/request-form.js';
import type { CompiledWebhook } from './compiled-webhook.js';
import type { Reinvocation } from '../request/reinvocation.js';
import { WebhookRun, type RunDependencies } from './webhook-run.js';

/**
 * Calls mutating webhooks one after the other, each with the object as the one before has changed it. In the second
 * round, only those that are due.
 */
export async function mutateByWebhooks(
  request: MatchedRequest,
  webhooks: readonly CompiledWebhook[],
  dependencies: RunDependencies,
  { reinvocation, round }: { readonly reinvocation: Reinvocation; readonly round: 0 | 1 },
): Promise<void> {
  const run = new WebhookRun(request, dependencies, 'admit');
  const { attributes } = request;
  let index = 0;
  /** The object as the last webhook has left it, in the version in which that has seen it. */
  let seen: { readonly form: RequestForm; readonly object: KubeObject } | undefined;
  for (const webhook of webhooks) {
    if (round === 1 && !reinvocation.isDue(webhook.id)) continue;
    const form = run.formOf(webhook);
    if (!form) continue;
    await run.evaluations.pauseIfDue();
    const submitted = attributes.object;
    if (submitted && seen?.form !== form) {
      seen = { form, object: await untilReady(() => form.present(submitted), attributes.request.steps?.trace) };
    }
    const object = seen?.object ?? null;
    if (!(await run.selects(webhook, form, object))) continue;
    run.checkCancelled();
    const position = `round_${round}_index_${index++}`;
    const mutated =
      (await run.call(webhook, form, object, position, ({ patch }) =>
        patch ? applyPatch(run, dependencies, { webhook, form, object, patch }) : false,
      )) ?? false;
    annotate(request, dependencies, webhook, position, mutated);
    if (mutated) {
      seen = undefined;
      reinvocation.noteChange();
    }
    if (webhook.isReinvoked) reinvocation.add(webhook.id);
  }
}

interface Patched {
  readonly webhook: CompiledWebhook;
  readonly form: RequestForm;
  readonly object: KubeObject | null;
  readonly patch: Buffer;
}

/** Returns true if the patch has changed the object. Errors are internal ones, as in kube-apiserver. */
async function applyPatch(
  { request, evaluations }: WebhookRun,
  { webhooks: { patchOperationsMax, valuesMax } }: RunDependencies,
  { webhook, form, object, patch }: Patched,
): Promise<boolean> {
  const failed = (problem: string) =>
    ApiError.external(`the patch of admission webhook ${goQuote(webhook.name)} ${problem}`);
  if (!object) {
    throw ApiError.external(
      `admission webhook ${goQuote(webhook.name)} attempted to modify the object, which is not supported for this operation`,
    );
  }
  let changed: JsonValue;
  try {
    if (hasMoreJsonValues(patch, valuesMax)) throw failed(`has more than ${valuesMax} values`);
    const operations = await evaluations.run(decodeJsonInSteps(patch.toString('utf8')));
    if (Array.isArray(operations) && operations.length === 0) return false;
    const before = object as unknown as JsonValue;
    changed = await evaluations.run(jsonPatchInSteps(before, operations, patchOperationsMax));
  } catch (error) {
    if (error instanceof DecodeError) throw failed('is not JSON');
    if (!(error instanceof ApiError) || error.isExternal) throw error;
    throw failed(`cannot be applied: ${(error.cause instanceof Error ? error.cause : error).message}`);
  }
  if (hasMoreValues(changed, valuesMax)) throw failed(`makes an object of more than ${valuesMax} values`);
  if (deepEqual(changed, object)) return false;
  await evaluations.pauseIfDue();
  await replaceObject(request, form, changed);
  return true;
}

/** Counts objects, lists and scalars until there are more than `max`. */
function hasMoreValues(root: JsonValue, max: number): boolean {
  const stack: JsonValue[] = [root];
  let count = 1;
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const parts = Array.isArray(value) ? value : Object.values(value);
    count += parts.length;
    if (count > max) return true;
    for (const part of parts) stack.push(part);
  }
  return false;
}

function annotate(
  { attributes }: MatchedRequest,
  { naming }: RunDependencies,
  { callAnnotations }: CompiledWebhook,
  position: string,
  mutated: boolean,
): void {
  const key = `mutation.webhook.admission.${naming.apiDomain}/${position}`;
  attributes.request.auditAnnotations.set(key, mutated ? callAnnotations.changed : callAnnotations.unchanged);
}

import { untilReady } from '../../std/not-ready.js';
import type { MatchedRequest } from '../request/matched-request.js';
import type { CompiledWebhook } from './compiled-webhook.js';
import { WebhookRun, type RunDependencies } from './webhook-run.js';

/** Calls the validating webhooks that select the request, all at once. Throws the first refusal after all have answered. */
export async function validateByWebhooks(
  request: MatchedRequest,
  webhooks: readonly CompiledWebhook[],
  dependencies: RunDependencies,
): Promise<void> {
  const run = new WebhookRun(request, dependencies, 'validating');
  const calls: (() => Promise<unknown>)[] = [];
  for (const webhook of webhooks) {
    const form = run.formOf(webhook);
    if (!form) continue;
    await run.evaluations.pauseIfDue();
    const object = await untilReady(() => request.object('object', form), request.attributes.request.steps?.trace);
    if (!(await run.selects(webhook, form, object))) continue;
    const position = `round_0_index_${calls.length}`;
    calls.push(() => run.call(webhook, form, object, position, () => undefined));
  }
  if (calls.length === 0) return;
  run.checkCancelled();
  const results = await Promise.allSettled(calls.map((call) => call()));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** A review that a webhook did not answer, or not with a valid answer. Messages never contain text of the answer. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

/** Aborts a call that no request waits for. */
export const abandoned = new WebhookError('no request waits for the result');

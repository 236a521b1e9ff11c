/** The failure_type of the metric apiserver_conversion_webhook_request_total. */
export type FailureType =
  | 'conversion_webhook_call_failure'
  | 'conversion_webhook_malformed_response_failure'
  | 'conversion_webhook_partial_response_failure'
  | 'conversion_webhook_invalid_converted_object_failure';

/** A conversion that a webhook did not answer as it must. The message follows `conversion webhook for KIND `. */
export class ConversionFailure extends Error {
  constructor(
    readonly type: FailureType,
    message: string,
  ) {
    super(message);
  }
}

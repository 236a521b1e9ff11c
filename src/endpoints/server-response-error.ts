import type { RefusedAnswer } from '../forwarding/forward-request.js';
import { ApiError } from '../machinery/api-error.js';
import { goQuote } from '../machinery/field-error.js';

type Reason = ApiError['reason'];

/** Reasons and messages of client-go for answers without a Status. */
const known: ReadonlyMap<number, readonly [Reason, string]> = new Map([
  [401, ['Unauthorized', 'the server has asked for the client to provide credentials']],
  [404, ['NotFound', 'the server could not find the requested resource']],
  [405, ['MethodNotAllowed', 'the server does not allow this method on the requested resource']],
  [406, ['NotAcceptable', 'the server was unable to respond with a content type that the client supports']],
  [409, ['Conflict', 'the server reported a conflict']],
  [415, ['UnsupportedMediaType', 'the server was not able to process the media type of the request']],
  [422, ['Invalid', 'the server rejected our request due to an error in our request']],
  [429, ['TooManyRequests', 'the server has received too many requests and has asked us to try again later']],
  [503, ['ServiceUnavailable', 'the server is currently unable to handle the request']],
  [
    504,
    [
      'Timeout',
      'the server was unable to return a response in the time allotted, but may still be processing the request',
    ],
  ],
] as const);

/** Returns the error for an answer of a kubelet that is not a success, as kube-apiserver does for `resource`. */
export function serverResponseError({ code, text }: RefusedAnswer, resource: string, name: string): ApiError {
  if (code === 500) return ApiError.external(text);
  if (code === 400) return ApiError.badRequest(text);
  const [reason, message] = outcome(code, text);
  return new ApiError({
    reason,
    code,
    message: `${message} ( ${resource} ${name})`,
    details: { name, kind: resource },
    isExternal: true,
  });
}

function outcome(code: number, text: string): readonly [Reason, string] {
  // The message of the server says who may not do what.
  if (code === 403) return ['Forbidden', text];
  const found = known.get(code);
  if (found) return found;
  if (code >= 500) {
    return ['InternalError', `an error on the server (${goQuote(text)}) has prevented the request from succeeding`];
  }
  return ['Unknown', `the server responded with the status code ${code} but did not return more information`];
}

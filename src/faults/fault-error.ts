import { ApiError } from '../machinery/api-error.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { Fault } from './fault-plan.js';

const conflict = 'the object has been modified; please apply your changes to the latest version and try again';
const message = 'injected by the fault plan';
const retryAfterSeconds = 1;

const statusesWithName = [403, 404, 409];

/** True if the error of the fault has the name of the object in its message and details. */
export const namesObject = ({ status }: Fault): boolean => status !== undefined && statusesWithName.includes(status);

/** The error with which kube-apiserver would answer. */
export function faultError(status: number, info: RequestInfo): ApiError {
  const resource = { group: info.group, resource: info.resource };
  switch (status) {
    case 400:
      return ApiError.badRequest(message);
    case 401:
      return ApiError.unauthorized();
    case 403:
      return ApiError.forbidden(resource, info.name, message);
    case 404:
      return ApiError.notFound(resource, info.name);
    case 409:
      return info.verb === 'create'
        ? ApiError.alreadyExists(resource, info.name)
        : ApiError.conflict(resource, info.name, conflict);
    case 410:
      return ApiError.gone('too old resource version: injected by the fault plan');
    case 413:
      return new ApiError({ reason: 'RequestEntityTooLarge', message });
    case 415:
      return new ApiError({ reason: 'UnsupportedMediaType', message });
    case 422:
      return new ApiError({ reason: 'Invalid', message });
    case 429:
      return ApiError.tooManyRequests('too many requests, please try again later', retryAfterSeconds);
    case 503:
      return new ApiError({ reason: 'ServiceUnavailable', message, isExternal: true });
    case 504:
      return new ApiError({ reason: 'Timeout', message, details: { retryAfterSeconds }, isExternal: true });
    default:
      return new ApiError({ reason: 'InternalError', message, code: status, isExternal: true });
  }
}

import { firstErrors } from './error-budget.js';
import type { FieldError } from './field-error.js';
import { goQuote } from './field-error.js';
import { qualifiedResource, type GroupResource } from './gvk.js';
import { listed } from './listed.js';

/**
 * Status reasons with their HTTP status codes. Every rejected request throws an ApiError, which the exception filter
 * converts to a Status.
 */
export const statusCodeOfReason = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  /** Go's StatusReasonUnknown: the Status has no reason. */
  Unknown: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;

type StatusReason = keyof typeof statusCodeOfReason;

interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** The body of error responses, and of some successful deletions. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { continue?: string; resourceVersion?: string };
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

interface ApiErrorFields {
  readonly reason: StatusReason;
  readonly message: string;
  readonly code?: number;
  readonly details?: StatusDetails;
  /** Sent as plain text: clients outside the API do not expect a Status. */
  readonly plainText?: boolean;
  /** A continue token for the rest of a list whose revision has expired. */
  readonly continueToken?: string;
  readonly cause?: unknown;
  /** The reason that a webhook has chosen, which may be none of this server; '' for none. */
  readonly sentReason?: string;
  /** True for an error of another server, which this one does not log as its own. */
  readonly isExternal?: boolean;
}

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly reason: StatusReason;
  readonly code: number;
  readonly details: StatusDetails | undefined;
  readonly continueToken: string | undefined;
  readonly plainText: boolean;
  readonly isExternal: boolean;
  private readonly sentReason: string | undefined;

  constructor(fields: ApiErrorFields) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.reason = fields.reason;
    this.code = fields.code ?? statusCodeOfReason[fields.reason];
    this.details = fields.details;
    this.continueToken = fields.continueToken;
    this.plainText = fields.plainText ?? false;
    this.isExternal = fields.isExternal ?? false;
    this.sentReason = fields.sentReason;
  }

  toStatus(): Status {
    const reason = this.sentReason ?? (this.reason === 'Unknown' ? '' : this.reason);
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.continueToken === undefined ? {} : { continue: this.continueToken },
      status: 'Failure',
      message: this.message,
      ...(reason !== '' && { reason }),
      ...(this.details && { details: this.details }),
      code: this.code,
    };
  }

  static badRequest(message: string, cause?: unknown): ApiError {
    return new ApiError({ reason: 'BadRequest', message, cause });
  }

  static unauthorized(message = 'Unauthorized'): ApiError {
    return new ApiError({ reason: 'Unauthorized', message });
  }

  /** `message` follows `is forbidden: `. */
  static forbidden(resource: GroupResource, name: string, message: string, causes?: StatusCause[]): ApiError {
    const where = qualifiedResource(resource.group, resource.resource);
    return new ApiError({
      reason: 'Forbidden',
      message: name === '' ? `${where} is forbidden: ${message}` : `${where} ${goQuote(name)} is forbidden: ${message}`,
      details: { ...detailsOf(resource, name), ...(causes && { causes }) },
    });
  }

  static notFound(resource: GroupResource, name: string): ApiError {
    return new ApiError({
      reason: 'NotFound',
      message: `${qualifiedResource(resource.group, resource.resource)} ${goQuote(name)} not found`,
      details: detailsOf(resource, name),
    });
  }

  /** An unknown group, version, resource or subresource. */
  static noSuchResource(): ApiError {
    return new ApiError({
      reason: 'NotFound',
      message: 'the server could not find the requested resource',
      details: {},
    });
  }

  /** An unknown path outside /api and /apis. */
  static noSuchPage(): ApiError {
    return new ApiError({ reason: 'NotFound', message: '404 page not found', plainText: true });
  }

  static methodNotAllowed(message = 'the server does not allow this method on the requested resource'): ApiError {
    return new ApiError({ reason: 'MethodNotAllowed', message, details: {} });
  }

  static alreadyExists(resource: GroupResource, name: string): ApiError {
    return new ApiError({
      reason: 'AlreadyExists',
      message: `${qualifiedResource(resource.group, resource.resource)} ${goQuote(name)} already exists`,
      details: detailsOf(resource, name),
    });
  }

  static conflict(resource: GroupResource, name: string, message: string): ApiError {
    return new ApiError({
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on ${qualifiedResource(resource.group, resource.resource)} ${goQuote(name)}: ${message}`,
      details: detailsOf(resource, name),
    });
  }

  static invalid(kind: { group: string; kind: string }, name: string, found: readonly FieldError[]): ApiError {
    const errors = firstErrors(found);
    const texts = [...new Set(errors.map((error) => `${error.field}: ${error.detail}`))];
    return new ApiError({
      reason: 'Invalid',
      message: `${qualifiedResource(kind.group, kind.kind)} ${goQuote(name)} is invalid: ${listed(texts)}`,
      details: {
        ...detailsOf({ group: kind.group, resource: kind.kind }, name),
        causes: errors.map((error) => ({ reason: error.type, message: error.detail, field: error.field })),
      },
    });
  }

  static expired(message: string, continueToken?: string): ApiError {
    return new ApiError({ reason: 'Expired', message, ...(continueToken !== undefined && { continueToken }) });
  }

  static gone(message: string): ApiError {
    return new ApiError({ reason: 'Expired', message });
  }

  static timeout(message: string, retryAfterSeconds?: number, causes?: StatusCause[]): ApiError {
    return new ApiError({
      reason: 'Timeout',
      message,
      details: { ...(causes && { causes }), ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
    });
  }

  static tooLargeResourceVersion(requested: number, current: number): ApiError {
    return ApiError.timeout(`Timeout: Too large resource version: ${requested}, current: ${current}`, 1, [
      { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
    ]);
  }

  static tooManyRequests(message: string, retryAfterSeconds: number): ApiError {
    return new ApiError({ reason: 'TooManyRequests', message, details: { retryAfterSeconds } });
  }

  static unavailable(message: string, cause?: unknown): ApiError {
    return new ApiError({ reason: 'ServiceUnavailable', message, details: { retryAfterSeconds: 1 }, cause });
  }

  static requestEntityTooLarge(message: string): ApiError {
    return new ApiError({ reason: 'RequestEntityTooLarge', message });
  }

  static notAcceptable(accepted: readonly string[]): ApiError {
    return new ApiError({
      reason: 'NotAcceptable',
      message: `only the following media types are accepted: ${accepted.join(', ')}`,
    });
  }

  static unsupportedMediaType(accepted: readonly string[]): ApiError {
    return new ApiError({
      reason: 'UnsupportedMediaType',
      message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    });
  }

  /** An internal error that another server has caused. */
  static external(message: string): ApiError {
    return new ApiError({
      reason: 'InternalError',
      message: `Internal error occurred: ${message}`,
      details: { causes: [{ message }] },
      isExternal: true,
    });
  }

  static internal(message: string, cause?: unknown): ApiError {
    return new ApiError({
      reason: 'InternalError',
      message: `Internal error occurred: ${message}`,
      details: { causes: [{ message }] },
      cause,
    });
  }
}

function detailsOf(resource: GroupResource, name: string): StatusDetails {
  return {
    ...(name !== '' && { name }),
    ...(resource.group !== '' && { group: resource.group }),
    ...(resource.resource !== '' && { kind: resource.resource }),
  };
}

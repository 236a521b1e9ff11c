import { HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { json, standardEncodings, type Encoding } from '../codec/encodings.js';
import { headersFor, sendBytes } from '../hooks/answer.js';
import { ApiError } from '../machinery/api-error.js';
import { storageToApiError } from '../registry/storage-to-api-error.js';
import type { Logger } from '../std/logger.js';

/** Anything that was thrown becomes a Status, in the encoding the client takes. What nobody meant to throw is our fault: 500. */
export class ApiErrorFilter implements ExceptionFilter {
  constructor(
    private readonly logger: Logger,
    private readonly encodings: readonly Encoding[],
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    answerError(request, reply, thrown, this.logger, this.encodings);
  }
}

export function answerError(
  request: FastifyRequest,
  reply: FastifyReply,
  thrown: unknown,
  logger: Logger,
  encodings: readonly Encoding[] = standardEncodings,
): void {
  // What the work was stopped with, or what it came to too late.
  if (request.kube?.isExpired && reply.raw.headersSent) return;
  const error = toApiError(thrown, encodings);
  if (error.code >= 500 && error.reason === 'InternalError') {
    logger.error('request failed', {
      auditId: request.kube?.auditId,
      method: request.raw.method,
      path: request.kube?.info.path,
      error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
    });
  }
  if (reply.raw.headersSent || reply.raw.writableEnded) {
    // The head has gone out as a success: only cutting the connection tells the client otherwise.
    reply.raw.destroy();
    return;
  }
  const { encoding, pretty } = outputOf(request, encodings);
  const headers = headersFor(request, error.plainText ? 'text/plain; charset=utf-8' : encoding.mediaType);
  if (error.plainText) headers['x-content-type-options'] = 'nosniff';
  if (error.details?.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.details.retryAfterSeconds);
  const body = error.plainText ? Buffer.from(`${error.message}\n`) : encoding.encode(error.toStatus(), { pretty });
  sendBytes(request, reply, error.code, headers, body);
}

/** A refused request may not have reached negotiation; its errors are JSON unless its Accept begins with another encoding. */
function outputOf(request: FastifyRequest, encodings: readonly Encoding[]): { encoding: Encoding; pretty: boolean } {
  const { output } = request.kube;
  if (output) return { encoding: output.encoding, pretty: output.pretty };
  const accept = request.raw.headers.accept ?? '';
  return { encoding: encodings.find(({ mediaType }) => accept.startsWith(mediaType)) ?? json, pretty: false };
}

function toApiError(thrown: unknown, encodings: readonly Encoding[]): ApiError {
  const error = storageToApiError(thrown);
  if (error instanceof ApiError) return error;
  if (error instanceof HttpException) {
    const status = error.getStatus();
    if (status === 404) return ApiError.noSuchResource();
    if (status === 403) return new ApiError({ reason: 'Forbidden', message: error.message });
    // A Content-Type that cannot even be read is refused before anybody asks what the resource takes.
    if (status === 415) return ApiError.unsupportedMediaType(encodings.map(({ mediaType }) => mediaType));
    if (status < 500) return new ApiError({ reason: 'BadRequest', code: status, message: error.message, cause: error });
  }
  return ApiError.internal(
    'the server failed on this request; its log says more under the audit id of this answer',
    error,
  );
}

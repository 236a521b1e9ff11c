import { HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { json, standardEncodings, type Encoding } from '../codec/encodings.js';
import { OutputNegotiator, wantsPretty, type OutputChoice } from '../codec/negotiate.js';
import { cutAnswer, isAnswerOver } from '../connections/cut.js';
import { requestLine } from '../connections/unusual-requests.js';
import { headersFor, sendBytes } from '../hooks/answer.js';
import { ApiError } from '../machinery/api-error.js';
import { storageToApiError } from '../registry/storage-to-api-error.js';
import type { Logger } from '../std/logger.js';

/** Anything that was thrown becomes a Status, in the encoding the client takes. What nobody meant to throw is our fault: 500. */
export class ApiErrorFilter implements ExceptionFilter {
  private readonly negotiator: OutputNegotiator;

  constructor(
    private readonly logger: Logger,
    encodings: readonly Encoding[],
  ) {
    this.negotiator = plainNegotiator(encodings);
  }

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    answerError(request, reply, thrown, this.logger, this.negotiator);
  }
}

export function answerError(
  request: FastifyRequest,
  reply: FastifyReply,
  thrown: unknown,
  logger: Logger,
  negotiator: OutputNegotiator = standardNegotiator,
): void {
  const error = toApiError(thrown, negotiator.mediaTypes);
  if (error.code >= 500 && error.reason === 'InternalError') {
    logger.error('request failed', {
      auditId: request.kube?.auditId,
      method: requestLine(request.raw).method,
      path: request.kube?.info.path,
      error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
    });
  }
  if (reply.raw.headersSent) {
    // The head has gone out as a success: only a cut tells the client otherwise. At the deadline it was cut already.
    if (!request.kube.isExpired && !isAnswerOver(reply.raw)) cutAnswer(reply.raw);
    return;
  }
  const { encoding, pretty } = outputOf(request, negotiator);
  const headers = headersFor(request, error.plainText ? 'text/plain; charset=utf-8' : encoding.mediaType);
  if (error.plainText) headers['x-content-type-options'] = 'nosniff';
  if (error.details?.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.details.retryAfterSeconds);
  const body = error.plainText ? Buffer.from(`${error.message}\n`) : encoding.encode(error.toStatus(), { pretty });
  sendBytes(request, reply, error.code, headers, body);
}

/** A Status has one shape: what the client wants objects to look like does not matter. */
function plainNegotiator(encodings: readonly Encoding[]): OutputNegotiator {
  return new OutputNegotiator({ encodings, metaGroup: '', allowsTransforms: false, canWatch: false });
}

const standardNegotiator = plainNegotiator(standardEncodings);

/**
 * A refused request may not have reached negotiation, or not have passed it: JSON, where nothing that it accepts can be
 * had. `?pretty=true` applies to a Status as to any object.
 */
function outputOf(request: FastifyRequest, negotiator: OutputNegotiator): Omit<OutputChoice, 'transform'> {
  const { encoding, pretty } = request.kube.output ?? negotiated(request, negotiator);
  const { query } = request.kube.info;
  const wish = query.raw === '' ? undefined : query.first('pretty');
  return { encoding, pretty: pretty || wantsPretty(wish, request.raw.headers['user-agent']) };
}

function negotiated(request: FastifyRequest, negotiator: OutputNegotiator): Omit<OutputChoice, 'transform'> {
  try {
    return negotiator.negotiate(request.raw.headers.accept);
  } catch {
    return { encoding: json, pretty: false };
  }
}

function toApiError(thrown: unknown, mediaTypes: string[]): ApiError {
  const error = storageToApiError(thrown);
  if (error instanceof ApiError) return error;
  if (error instanceof HttpException) {
    const status = error.getStatus();
    if (status === 404) return ApiError.noSuchResource();
    if (status === 403) return new ApiError({ reason: 'Forbidden', message: error.message });
    // A Content-Type that cannot even be read is refused before anybody asks what the resource takes.
    if (status === 415) return ApiError.unsupportedMediaType(mediaTypes);
    if (status < 500) return new ApiError({ reason: 'BadRequest', code: status, message: error.message, cause: error });
  }
  return ApiError.internal(
    'the server failed on this request; its log says more under the audit id of this answer',
    error,
  );
}

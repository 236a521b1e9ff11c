import { HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestAudit } from '../audit/request-audit.js';
import { json, standardEncodings } from '../codec/encodings.js';
import type { Encoding } from '../codec/encoding.js';
import { encodeJson } from '../codec/json.js';
import { OutputNegotiator, wantsPretty, type OutputChoice } from '../codec/negotiate.js';
import { cutAnswer, isAnswerOver } from '../connections/cut.js';
import { requestLine } from '../connections/unusual-requests.js';
import { headersFor, sendBytes } from '../answers/answer.js';
import { ApiError } from '../machinery/api-error.js';
import { shownAuditId } from '../machinery/audit-id.js';
import { storageToApiError } from '../registry/storage-to-api-error.js';
import type { Logger } from '../std/logger.js';
import { yieldEventLoop } from '../std/yield-event-loop.js';

/** Messages up to this length are formatted and encoded in one turn of the event loop. */
const charactersPerTurnMax = 500_000;

/**
 * Turns thrown errors into a Status in the encoding that the client accepts. Unexpected errors become 500
 * InternalError.
 */
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
    const answer = () => answerError(request, reply, thrown, this.logger, this.negotiator);
    if (!(thrown instanceof ApiError) || thrown.message.length <= charactersPerTurnMax) return answer();
    // Formatting a value of megabytes has taken the time of a turn of the event loop; encoding it takes another.
    reply.hijack();
    void yieldEventLoop()
      .then(answer)
      .catch((error: unknown) => {
        this.logger.error('an error could not be answered; its connection is closed', {
          auditId: request.kube && shownAuditId(request.kube.auditId),
          error: error instanceof Error ? error.message : String(error),
        });
        cutAnswer(reply.raw);
      });
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
  if (error.code >= 500 && error.reason === 'InternalError' && !error.isExternal) {
    logger.error('request failed with an internal error', {
      auditId: request.kube && shownAuditId(request.kube.auditId),
      method: requestLine(request.raw).method,
      path: request.kube?.info.path,
      error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
    });
  }
  if (reply.raw.headersSent) {
    // The head was sent with a success code: only an aborted response shows the failure. The deadline has aborted it
    // already.
    if (!request.kube.isExpired && !isAnswerOver(reply.raw)) cutAnswer(reply.raw);
    return;
  }
  const { audit } = request.kube;
  if (audit) noteError(audit, error);
  const { encoding, pretty } = outputOf(request, negotiator);
  const headers = headersFor(request, error.plainText ? 'text/plain; charset=utf-8' : encoding.mediaType);
  if (error.plainText) headers['x-content-type-options'] = 'nosniff';
  if (error.details?.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.details.retryAfterSeconds);
  const body = error.plainText ? Buffer.from(`${error.message}\n`) : encoding.encode(error.toStatus(), { pretty });
  sendBytes(request, reply, error.code, headers, body);
}

function noteError(audit: RequestAudit, error: ApiError): void {
  // As in kube-apiserver, where errors of these kinds are not objects.
  if (error.plainText || error.reason === 'NotAcceptable') return audit.noteAnswer({});
  // The error that no code expects, which is a panic there.
  if (error.message === unexpectedMessage) void audit.panicked(error.cause instanceof Error ? error.cause.message : '');
  const status = error.toStatus();
  audit.noteAnswer({ status, ...(audit.takesAnswers && { object: [encodeJson(status)] }) });
}

/** Returns a negotiator without transformations (Table, PartialObjectMetadata), which do not apply to a Status. */
function plainNegotiator(encodings: readonly Encoding[]): OutputNegotiator {
  return new OutputNegotiator({ encodings, metaGroup: '', allowsTransforms: false, canWatch: false });
}

const standardNegotiator = plainNegotiator(standardEncodings);

/**
 * Returns the encoding of a Status. The request may have failed before or in negotiation; JSON is used if the client
 * accepts no supported encoding. `?pretty=true` applies to a Status too.
 */
function outputOf(request: FastifyRequest, negotiator: OutputNegotiator): Omit<OutputChoice, 'transform'> {
  const { encoding, pretty } = request.kube.output ?? negotiated(request, negotiator);
  const { query } = request.kube.info;
  const requested = query.raw === '' ? undefined : query.first('pretty');
  return { encoding, pretty: pretty || wantsPretty(requested, request.raw.headers['user-agent']) };
}

function negotiated(request: FastifyRequest, negotiator: OutputNegotiator): Omit<OutputChoice, 'transform'> {
  try {
    return negotiator.negotiate(request.raw.headers.accept);
  } catch {
    return { encoding: json, pretty: false };
  }
}

const unexpectedMessage = 'unexpected error; look for the Audit-Id of this response in the log of the server';

function toApiError(thrown: unknown, mediaTypes: string[]): ApiError {
  const error = storageToApiError(thrown);
  if (error instanceof ApiError) return error;
  if (error instanceof HttpException) {
    const status = error.getStatus();
    if (status === 404) return ApiError.noSuchResource();
    if (status === 403) return new ApiError({ reason: 'Forbidden', message: error.message });
    // Fastify rejects an unparsable Content-Type before the media types of the resource are known.
    if (status === 415) return ApiError.unsupportedMediaType(mediaTypes);
    if (status < 500) return new ApiError({ reason: 'BadRequest', code: status, message: error.message, cause: error });
  }
  return ApiError.internal(unexpectedMessage, error);
}

import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseDuration } from '../config/duration.js';
import { cutAnswer, isAnswerOver } from '../connections/cut.js';
import { answerError } from '../filters/api-error.filter.js';
import { ApiError } from '../machinery/api-error.js';
import { goQuote } from '../machinery/field-error.js';
import { isLongRunning, type RequestInfo } from '../machinery/request-info.js';
import type { Logger } from '../std/logger.js';
import type { TimerWheel } from '../std/timer-wheel.js';

interface DeadlineOptions {
  readonly wheel: TimerWheel;
  readonly requestTimeoutMs: number;
  /** Time to send a response that begins at the deadline; after it, the response is aborted. */
  readonly flushTimeoutMs: number;
  readonly logger: Logger;
}

/** Responses of one turn of the event loop are written together, and a busy machine takes a while for it. */
const finishTimeoutMs = 100;

/**
 * Ends requests that are not long-running at --request-timeout, or earlier with `?timeout=10s`. At the deadline
 * request.kube.signal is aborted, and the client gets a 504 Timeout. A response whose head was sent is aborted after
 * finishTimeoutMs, unless the client has received all of it: one that was complete at the deadline may not be written yet.
 */
export function registerDeadline(
  server: FastifyInstance,
  { wheel, requestTimeoutMs, flushTimeoutMs, logger }: DeadlineOptions,
): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { kube } = request;
    if (isLongRunning(kube.info)) return done();
    const timeoutMs = timeoutOf(kube.info, requestTimeoutMs);
    if (timeoutMs === undefined) {
      const submitted = goQuote(kube.info.query.first('timeout') ?? '');
      answerError(
        request,
        reply,
        ApiError.badRequest(`invalid timeout specified in the request URL - time: invalid duration ${submitted}`),
        logger,
      );
      return;
    }
    let timer = wheel.after(
      timeoutMs,
      () => {
        const error = ApiError.timeout('Timeout: request did not complete within the allotted timeout');
        // Answers before expire(), since aborted work may answer too.
        const hasBegun = reply.raw.headersSent;
        // No effect if the handler has already claimed the response.
        if (!hasBegun) answerError(request, reply, error, logger);
        timer = wheel.after(hasBegun ? finishTimeoutMs : flushTimeoutMs, () => cutUnfinished(reply.raw));
        kube.expire(error);
      },
      kube.startMs,
    );
    kube.whenEnded(() => timer.cancel());
    done();
  });
}

function cutUnfinished(raw: FastifyReply['raw']): void {
  if (!isAnswerOver(raw)) cutAnswer(raw);
}

/** Returns the timeout of the request; undefined if `?timeout` is not a valid duration. */
export function timeoutOf({ query }: RequestInfo, maxMs: number): number | undefined {
  const requested = query.raw === '' ? undefined : query.first('timeout');
  if (requested === undefined || requested === '') return maxMs;
  const ms = parseDuration(requested);
  if (ms === undefined || ms < 0) return undefined;
  return ms === 0 ? maxMs : Math.min(ms, maxMs);
}

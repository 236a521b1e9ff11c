import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseDuration } from '../config/duration.js';
import { cutAnswer, isAnswerOver } from '../connections/cut.js';
import { answerError } from '../filters/api-error.filter.js';
import { ApiError } from '../machinery/api-error.js';
import { goQuote } from '../machinery/field-error.js';
import { isLongRunning, type RequestInfo } from '../machinery/request-info.js';
import type { Logger } from '../std/logger.js';
import type { TimerWheel } from '../std/timer-wheel.js';

export interface DeadlineOptions {
  readonly wheel: TimerWheel;
  readonly requestTimeoutMs: number;
  /** For an answer that begins at the deadline: what its client has not taken by then is cut. */
  readonly flushTimeoutMs: number;
  readonly logger: Logger;
}

/**
 * Every request that ends by itself ends in time. Clients may ask for less by `?timeout=10s`. At the deadline the work
 * on the request is told to stop. The client gets a 504 Timeout, or, in the middle of an answer, a cut: only that tells
 * it that the rest is missing. The middle of an answer lasts until its client has taken all of it.
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
      const given = goQuote(kube.info.query.first('timeout') ?? '');
      answerError(
        request,
        reply,
        ApiError.badRequest(`invalid timeout specified in the request URL - time: invalid duration ${given}`),
        logger,
      );
      return;
    }
    let timer = wheel.after(timeoutMs, () => {
      const error = ApiError.timeout('Timeout: request did not complete within the allotted timeout');
      // The answer first: the work that is told to stop may answer, too.
      if (reply.raw.headersSent) cutUnfinished(reply.raw);
      else {
        // Dropped where the handler's own answer is about to leave.
        answerError(request, reply, error, logger);
        timer = wheel.after(flushTimeoutMs, () => cutUnfinished(reply.raw));
      }
      kube.expire(error);
    });
    kube.whenEnded(() => timer.cancel());
    done();
  });
}

function cutUnfinished(raw: FastifyReply['raw']): void {
  if (!isAnswerOver(raw)) cutAnswer(raw);
}

/** Undefined when the client's wish makes no sense. */
function timeoutOf({ query }: RequestInfo, maxMs: number): number | undefined {
  const given = query.raw === '' ? undefined : query.first('timeout');
  if (given === undefined || given === '') return maxMs;
  const ms = parseDuration(given);
  if (ms === undefined || ms < 0) return undefined;
  return ms === 0 ? maxMs : Math.min(ms, maxMs);
}

import type { FastifyInstance } from 'fastify';
import { refusalOf } from '../connections/unusual-requests.js';
import { answerError } from '../filters/api-error.filter.js';
import { ApiError } from '../machinery/api-error.js';
import type { Logger } from '../std/logger.js';

/** As in kube-apiserver (WithRetryAfter). */
const retryAfterSeconds = 5;
const healthPaths = /^\/(healthz|livez|readyz)(\/|$)/;

/**
 * Refuses requests that cannot be served (too many headers, CONNECT, an unknown Expect), and with
 * --shutdown-send-retry-after all requests during shutdown. Runs after the hooks that count and log.
 */
export function registerRefusals(server: FastifyInstance, logger: Logger, isStopping: () => boolean): void {
  server.addHook('onRequest', (request, reply, done) => {
    const refusal = refusalOf(request.raw);
    if (refusal) return answerError(request, reply, refusal, logger);
    if (isStopping() && !healthPaths.test(request.kube.info.path)) {
      if (request.raw.httpVersionMajor === 1) reply.raw.setHeader('connection', 'close');
      const message = 'The apiserver is shutting down, please try again later.';
      return answerError(request, reply, ApiError.tooManyRequests(message, retryAfterSeconds), logger);
    }
    done();
  });
}

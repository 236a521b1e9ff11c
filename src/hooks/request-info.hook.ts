import type { FastifyInstance, FastifyRequest } from 'fastify';
import { requestLine } from '../connections/unusual-requests.js';
import { parseRequestInfo } from '../machinery/request-info.js';
import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import { RequestState, type AnswerEnd } from '../answers/request-state.js';

interface Dependencies {
  readonly clock: Clock;
  readonly rng: Rng;
}

/** Sets request.kube, with the RequestInfo and the audit id of the request. The first hook. */
export function registerRequestInfo(server: FastifyInstance, dependencies: Dependencies): void {
  server.decorateRequest('kube', null as unknown as RequestState);
  server.addHook('onRequest', (request, reply, done) => {
    const state = makeRequestState(request, dependencies, reply.raw);
    request.kube = state;
    // A response closes once; on() costs less than once().
    reply.raw.on('close', () => state.end());
    done();
  });
}

/** Creates the state of a request. Used also for requests that the router refuses before any hook has run. */
export function makeRequestState(
  { raw }: FastifyRequest,
  { clock, rng }: Dependencies,
  answer?: AnswerEnd,
): RequestState {
  // As in kube-apiserver, any text of the client. It is quoted or encoded wherever it is written.
  const submitted = raw.headers['audit-id'];
  const auditId = typeof submitted === 'string' && submitted !== '' ? submitted : rng.uuid();
  const { method, url } = requestLine(raw);
  return new RequestState(parseRequestInfo(method, url), auditId, clock, answer);
}

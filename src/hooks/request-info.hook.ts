import type { FastifyInstance, FastifyRequest } from 'fastify';
import { requestLine } from '../connections/unusual-requests.js';
import { parseRequestInfo } from '../machinery/request-info.js';
import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import { RequestState, type AnswerEnd } from './request-state.js';

const auditIdLengthMax = 64;

interface Parts {
  readonly clock: Clock;
  readonly rng: Rng;
}

/** First of all: what the URL says, and the id under which every trace of the request can be found. */
export function registerRequestInfo(server: FastifyInstance, parts: Parts): void {
  server.decorateRequest('kube', null as unknown as RequestState);
  server.addHook('onRequest', (request, reply, done) => {
    const state = makeRequestState(request, parts, reply.raw);
    request.kube = state;
    reply.raw.once('close', () => state.end());
    done();
  });
}

/** Also for requests that the router refuses before any hook has run. */
export function makeRequestState({ raw }: FastifyRequest, { clock, rng }: Parts, answer?: AnswerEnd): RequestState {
  const given = raw.headers['audit-id'];
  const auditId = typeof given === 'string' && isAuditId(given) ? given : rng.uuid();
  const { method, url } = requestLine(raw);
  return new RequestState(parseRequestInfo(method, url), auditId, clock.monotonicMs(), answer);
}

function isAuditId(text: string): boolean {
  return text.length > 0 && text.length <= auditIdLengthMax && /^[\w.:-]+$/.test(text);
}

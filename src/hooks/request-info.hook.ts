import type { FastifyInstance } from 'fastify';
import { parseRequestInfo } from '../machinery/request-info.js';
import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import { RequestState } from './request-state.js';

const auditIdLengthMax = 64;

/** First of all: what the URL says, and the id under which every trace of the request can be found. */
export function registerRequestInfo(server: FastifyInstance, parts: { clock: Clock; rng: Rng }): void {
  server.decorateRequest('kube', null as unknown as RequestState);
  server.addHook('onRequest', (request, _reply, done) => {
    const { raw } = request;
    const given = raw.headers['audit-id'];
    const auditId = typeof given === 'string' && given !== '' && given.length <= auditIdLengthMax && /^[\w.:-]+$/.test(given) ? given : parts.rng.uuid();
    request.kube = new RequestState(parseRequestInfo(raw.method ?? 'GET', raw.url ?? '/'), auditId, parts.clock.monotonicMs());
    done();
  });
}

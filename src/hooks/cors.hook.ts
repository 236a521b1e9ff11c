import type { FastifyInstance } from 'fastify';
import { requestLine } from '../connections/unusual-requests.js';

const allowed = {
  'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'access-control-allow-headers':
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  'access-control-expose-headers': 'Date',
  'access-control-allow-credentials': 'true',
};

/** Bound on Origin: a host name of 253 characters, with scheme and port. */
const originLengthMax = 300;

/**
 * Sets CORS headers for the configured origins (staging/src/k8s.io/apiserver/pkg/server/filters/cors.go). Preflight
 * requests are answered before authentication, since browsers send them without credentials.
 */
export function registerCors(server: FastifyInstance, allowedOrigins: readonly string[]): void {
  if (allowedOrigins.length === 0) return;
  // eslint-disable-next-line no-restricted-syntax -- from a flag of the administrator, validated at start
  const patterns = allowedOrigins.map((origin) => new RegExp(origin));
  server.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.raw.headers;
    if (
      typeof origin !== 'string' ||
      origin.length > originLengthMax ||
      !patterns.some((pattern) => pattern.test(origin))
    )
      return done();
    const { raw } = reply;
    raw.setHeader('access-control-allow-origin', origin);
    for (const [name, value] of Object.entries(allowed)) raw.setHeader(name, value);
    if (requestLine(request.raw).method !== 'OPTIONS' || !request.kube.claimAnswer()) return done();
    reply.hijack();
    raw.writeHead(204);
    raw.end();
  });
}

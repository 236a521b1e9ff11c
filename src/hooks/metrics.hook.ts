import type { FastifyInstance } from 'fastify';
import type { RequestMetrics } from '../metrics/request-metrics.js';

/**
 * Counts every request when its response closes, including requests that a guard rejects, responses that bypass
 * Fastify, and clients that disconnect, for which Fastify runs no hooks.
 */
export function registerMetrics(server: FastifyInstance, metrics: RequestMetrics): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { kube } = request;
    const { raw } = reply;
    const contentType = request.raw.headers['content-type'];
    const running = metrics.begin(kube.info, contentType);
    kube.whenEnded(() => {
      metrics.end(kube.info, contentType, running, {
        code: raw.headersSent ? raw.statusCode : 0,
        seconds: (kube.endedMs - kube.startMs) / 1000,
        sentBytes: kube.sentBytes,
        receivedBytes: kube.receivedBytes,
        isExpired: kube.isExpired,
      });
    });
    done();
  });
}

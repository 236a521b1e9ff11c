import { shownAuditId } from '../machinery/audit-id.js';
import type { FastifyInstance } from 'fastify';
import { requestLine, submittedUrl } from '../connections/unusual-requests.js';
import type { Logger } from '../std/logger.js';
import { LineRate } from './line-rate.js';

/** When a server is overloaded, all its requests are slow. */
const slowLinesPerSecondMax = 20;

interface AccessLogOptions {
  readonly logger: Logger;
  /** Requests that take longer are logged with level info; watches and other streams are not. */
  readonly slowMs: number;
  /** True if other requests are logged with level debug. False avoids the cost of lines that the logger would drop. */
  readonly logsAll: boolean;
}

/** Logs slow requests with the durations of their steps, and all requests with log level debug. */
export function registerAccessLog(server: FastifyInstance, { logger, slowMs, logsAll }: AccessLogOptions): void {
  const slowLines = new LineRate(slowLinesPerSecondMax);
  server.addHook('onRequest', (request, reply, done) => {
    const { raw } = reply;
    request.kube.whenEnded(() => {
      const { kube } = request;
      const durationMs = kube.endedMs - kube.startMs;
      const isSlow = durationMs > slowMs && !kube.isStreaming;
      if (!isSlow && !logsAll) return;
      const omitted = isSlow && !logsAll ? slowLines.admit(kube.endedMs) : 0;
      if (omitted === undefined) return;
      kube.endSteps(kube.endedMs);
      const fields = {
        auditId: shownAuditId(kube.auditId),
        ...requestLine(request.raw),
        url: submittedUrl(request.raw),
        verb: kube.info.verb,
        user: kube.user.name,
        ...(kube.impersonator && { impersonator: kube.impersonator.name }),
        userAgent: request.raw.headers['user-agent'],
        from: request.raw.socket.remoteAddress,
        code: raw.headersSent ? raw.statusCode : 0,
        durationMs: Math.round(durationMs * 1000) / 1000,
        bytes: kube.sentBytes,
        ...(isSlow && { steps: kube.durationsMs() }),
        ...(isSlow && kube.slowParts && { slowest: kube.slowParts }),
        ...(omitted > 0 && { omittedBefore: omitted }),
      };
      if (isSlow) logger.info('slow request', fields);
      else logger.debug('request', fields);
    });
    done();
  });
}

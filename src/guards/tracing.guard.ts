import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestLine } from '../connections/unusual-requests.js';
import type { Clock } from '../std/clock.js';
import type { Tracer } from '../tracing/tracer.js';

/**
 * Begins the trace of a request. Runs after authentication, since the user decides whether the trace of the client is
 * continued; the span begins with the request all the same. Not in the chain without --tracing-config-file.
 */
export class TracingGuard implements CanActivate {
  constructor(
    private readonly tracer: Tracer,
    private readonly clock: Clock,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { kube, raw } = request;
    const decision = this.tracer.decide(raw.headers, kube.user.groups, kube.trace);
    if (decision.isSampled) this.record(request, http.getResponse<FastifyReply>(), decision);
    else kube.trace = this.tracer.pass(decision);
    return true;
  }

  private record({ kube, raw }: FastifyRequest, reply: FastifyReply, decision: ReturnType<Tracer['decide']>): void {
    const { method, url } = requestLine(raw);
    const trace = this.tracer.record(decision, {
      info: kube.info,
      auditId: kube.auditId,
      startMs: kube.startMs,
      method,
      url,
      httpVersion: raw.httpVersion,
      headers: raw.headers,
      peerAddress: raw.socket.remoteAddress,
      peerPort: raw.socket.remotePort,
    });
    kube.trace = trace;
    kube.begin('flowControl');
    kube.whenEnded(() => {
      const code = reply.raw.headersSent ? reply.raw.statusCode : 0;
      const attributes = {
        'http.response.status_code': code,
        'http.response.body.size': kube.sentBytes,
        ...(kube.receivedBytes !== undefined && { 'http.request.body.size': kube.receivedBytes }),
      };
      trace.end(attributes, code >= 500 ? `status ${code}` : undefined, this.clock.monotonicMs());
    });
  }
}

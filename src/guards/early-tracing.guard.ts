import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Tracer } from '../tracing/tracer.js';

/** Records the calls of authentication until TracingGuard knows the trace. Not in the chain without --tracing-config-file. */
export class EarlyTracingGuard implements CanActivate {
  constructor(private readonly tracer: Tracer) {}

  canActivate(context: ExecutionContext): boolean {
    context.switchToHttp().getRequest<FastifyRequest>().kube.trace = this.tracer.begin();
    return true;
  }
}

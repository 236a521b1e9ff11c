import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { requestOf } from '../answers/request-of.js';
import type { Tracer } from '../tracing/tracer.js';

/** Records the calls of authentication until TracingGuard knows the trace. Not in the chain without --tracing-config-file. */
export class EarlyTracingGuard implements CanActivate {
  constructor(private readonly tracer: Tracer) {}

  canActivate(context: ExecutionContext): boolean {
    requestOf(context).kube.trace = this.tracer.begin();
    return true;
  }
}

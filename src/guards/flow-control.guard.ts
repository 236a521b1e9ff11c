import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { InflightLimiter } from '../flow/inflight-limiter.js';
import { ApiError } from '../machinery/api-error.js';

/** Rejects a request with 429 if the configured number of requests is in flight. */
export class FlowControlGuard implements CanActivate {
  constructor(private readonly limiter: InflightLimiter) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const verdict = this.limiter.admit(request.kube.info, request.kube.user);
    if (!verdict.isAdmitted) throw ApiError.tooManyRequests(verdict.reason, 1);
    if (verdict.release) request.kube.whenEnded(verdict.release);
    return true;
  }
}

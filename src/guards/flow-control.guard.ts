import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { InflightLimiter } from '../flow/inflight-limiter.js';
import { ApiError } from '../machinery/api-error.js';

/** Keeps more requests than the server can do from being begun at all. */
export class FlowControlGuard implements CanActivate {
  constructor(private readonly limiter: InflightLimiter) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const release = this.limiter.admit(request.kube.info, request.kube.user);
    if (release === 'exempt') return true;
    if (release === undefined) {
      throw ApiError.tooManyRequests('Too many requests, please try again later.', 1);
    }
    request.kube.whenEnded(release);
    return true;
  }
}

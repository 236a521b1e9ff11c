import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { requestOf } from '../answers/request-of.js';
import type { AccessMetrics } from '../metrics/access-metrics.js';
import { ApiError } from '../machinery/api-error.js';
import type { UserInfo } from '../machinery/user-info.js';
import type { RequestAuthenticator } from '../auth/request-authenticator.js';

/** Authenticates the request, or rejects it with 401. Runs before all work that costs. */
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly authenticator: Pick<RequestAuthenticator, 'authenticate'>,
    private readonly metrics: AccessMetrics,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = requestOf(context);
    const beginMs = this.metrics.nowMs;
    const result = this.authenticator.authenticate(request.raw, request.kube.info.path, request.kube);
    if (!(result instanceof Promise)) return this.setUser(request, result, beginMs);
    return result.then(
      (user) => this.setUser(request, user, beginMs),
      (error: unknown) => {
        this.metrics.authenticated('error', beginMs);
        throw error;
      },
    );
  }

  private setUser({ kube }: FastifyRequest, user: UserInfo | undefined, beginMs: number): true {
    const nowMs = this.metrics.authenticated(user ? 'success' : 'failure', beginMs, user?.name);
    if (!user) throw ApiError.unauthorized();
    kube.user = user;
    kube.begin('flowControl', nowMs);
    return true;
  }
}

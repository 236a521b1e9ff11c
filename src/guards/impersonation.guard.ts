import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { ConstrainedImpersonation } from '../auth/constrained-impersonation.js';
import { impersonationOf, impersonationChecks } from '../auth/impersonation.js';
import { authorize, forbiddenError, type Authorizer } from '../auth/authorizer.js';
import { RequestAttributes } from './request-attributes.js';

/**
 * Replaces the user by the one in the Impersonate- headers, if the real user may impersonate. Runs before
 * authorization.
 */
export class ImpersonationGuard implements CanActivate {
  constructor(
    private readonly authorizers: readonly Authorizer[],
    private readonly authenticationGroup: string,
    /** Undefined without the feature gate ConstrainedImpersonation. */
    private readonly constrained: ConstrainedImpersonation | undefined,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { headers } = request.raw;
    // Fast path: nearly all requests have no such header.
    let found = false;
    for (const name in headers) if (name.startsWith('impersonate-')) found = true;
    return found ? this.impersonate(request) : true;
  }

  private async impersonate(request: FastifyRequest): Promise<boolean> {
    const state = request.kube;
    const impersonated = impersonationOf(request.raw.rawHeaders);
    if (!impersonated) return true;
    if (this.constrained) {
      const user = await this.constrained.impersonate(impersonated, new RequestAttributes(state.user, state.info));
      state.impersonator = state.user;
      state.user = user;
      return true;
    }
    for (const check of impersonationChecks(impersonated, this.authenticationGroup)) {
      const attributes = {
        user: state.user,
        isResourceRequest: true,
        path: '',
        verb: 'impersonate',
        version: 'v1',
        ...check,
      };
      const answer = await authorize(this.authorizers, attributes);
      if (answer.decision !== 'allow') throw forbiddenError(attributes, answer.reason);
    }
    state.impersonator = state.user;
    state.user = impersonated.user;
    return true;
  }
}

import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { requestOf } from '../answers/request-of.js';
import type { ConstrainedImpersonation } from '../auth/constrained-impersonation.js';
import { impersonationOf, impersonationChecks } from '../auth/impersonation.js';
import { authorize, type Authorizers, type Refusal } from '../auth/authorizer.js';
import { RequestAttributes } from './request-attributes.js';

/**
 * Replaces the user by the one in the Impersonate- headers, if the real user may impersonate. Runs before
 * authorization.
 */
export class ImpersonationGuard implements CanActivate {
  constructor(
    private readonly authorizers: Authorizers,
    private readonly authenticationGroup: string,
    /** Undefined without the feature gate ConstrainedImpersonation. */
    private readonly constrained: ConstrainedImpersonation | undefined,
    private readonly refusal: Refusal,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = requestOf(context);
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
    // The impersonation and the request itself are decided by the same authorizers, although they may be replaced.
    state.begin('impersonation');
    const { chain } = this.authorizers;
    state.holdAuthorizers(chain);
    if (this.constrained) {
      const attributes = new RequestAttributes(state.user, state.info, state);
      const { user, constraint } = await this.constrained.impersonate(impersonated, attributes, chain);
      state.impersonator = state.user;
      state.user = user;
      state.impersonationConstraint = constraint;
      state.begin('flowControl');
      return true;
    }
    for (const check of impersonationChecks(impersonated, this.authenticationGroup)) {
      const attributes = {
        user: state.user,
        isResourceRequest: true,
        path: '',
        verb: 'impersonate',
        version: 'v1',
        steps: state,
        ...check,
      };
      const answer = await authorize(chain, attributes);
      if (answer.decision !== 'allow') throw this.refusal(attributes, answer);
    }
    state.impersonator = state.user;
    state.user = impersonated.user;
    state.begin('flowControl');
    return true;
  }
}

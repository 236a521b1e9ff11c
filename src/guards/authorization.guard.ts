import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { authorize, forbiddenError, type AuthorizationAttributes, type Authorizer } from '../auth/authorizer.js';
import type { AccessMetrics } from '../metrics/access-metrics.js';

/** Rejects a request with 403 unless an authorizer allows it. */
export class AuthorizationGuard implements CanActivate {
  constructor(
    private readonly authorizers: readonly Authorizer[],
    private readonly metrics: AccessMetrics,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { info, user } = context.switchToHttp().getRequest<FastifyRequest>().kube;
    const attributes: AuthorizationAttributes = {
      user,
      verb: info.verb,
      isResourceRequest: info.isResourceRequest,
      group: info.group,
      version: info.version,
      resource: info.resource,
      subresource: info.subresource,
      namespace: info.namespace,
      name: info.name,
      path: info.path,
    };
    // Fast path: the first authorizer allows most requests synchronously.
    const beginMs = this.metrics.nowMs;
    const first = this.authorizers[0]!.authorize(attributes);
    if (!(first instanceof Promise) && first.decision === 'allow') {
      this.metrics.authorized('allow', beginMs);
      return true;
    }
    return this.decide(attributes, beginMs);
  }

  private async decide(attributes: AuthorizationAttributes, beginMs: number): Promise<boolean> {
    const { decision, reason } = await authorize(this.authorizers, attributes).catch((error: unknown) => {
      this.metrics.authorized('error', beginMs);
      throw error;
    });
    this.metrics.authorized(decision, beginMs);
    if (decision === 'allow') return true;
    throw forbiddenError(attributes, reason);
  }
}

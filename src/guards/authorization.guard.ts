import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { requestOf } from '../answers/request-of.js';
import {
  authorize,
  type Authorization,
  type AuthorizationAttributes,
  type Refusal,
  type Authorizers,
} from '../auth/authorizer.js';
import type { RequestState } from '../answers/request-state.js';
import type { AccessMetrics } from '../metrics/access-metrics.js';
import { RequestAttributes } from './request-attributes.js';

/** Rejects a request with 403 unless an authorizer allows it. */
export class AuthorizationGuard implements CanActivate {
  constructor(
    private readonly authorizers: Authorizers,
    private readonly metrics: AccessMetrics,
    private readonly refusal: Refusal,
    /** `authorization.k8s.io/`, prefix of audit annotations. */
    private readonly annotationPrefix: string,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { kube } = requestOf(context);
    const { info, user } = kube;
    const attributes = new RequestAttributes(user, info, kube);
    const beginMs = this.metrics.nowMs;
    kube.begin('authorization', beginMs);
    const failed = (error: unknown): never => {
      if (kube.audit) kube.auditAnnotations.set(`${this.annotationPrefix}reason`, 'internal error');
      this.metrics.authorized('error', beginMs);
      throw error;
    };
    const decided = (authorization: Authorization) => {
      if (kube.audit) this.annotate(kube.auditAnnotations, authorization);
      return this.enforce(kube, authorization, attributes, beginMs);
    };
    let answer: Authorization | Promise<Authorization>;
    try {
      answer = authorize(kube.authorizers ?? this.authorizers, attributes);
      kube.releaseAuthorizers();
    } catch (error) {
      return failed(error);
    }
    return answer instanceof Promise ? answer.then(decided, failed) : decided(answer);
  }

  private annotate(annotations: Map<string, string>, { decision, reason }: Authorization): void {
    annotations.set(`${this.annotationPrefix}decision`, decision === 'allow' ? 'allow' : 'forbid');
    annotations.set(`${this.annotationPrefix}reason`, reason);
  }

  private enforce(
    kube: RequestState,
    authorization: Authorization,
    attributes: AuthorizationAttributes,
    beginMs: number,
  ): true {
    const { decision } = authorization;
    kube.begin('handling', this.metrics.authorized(decision, beginMs));
    if (decision === 'allow') return true;
    throw this.refusal(attributes, authorization);
  }
}

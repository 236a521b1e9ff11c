import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import {
  authorize,
  forbiddenError,
  type Authorization,
  type AuthorizationAttributes,
  type Authorizer,
} from '../auth/authorizer.js';
import { parseFieldSelector, type FieldSelector } from '../machinery/field-selector.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user-info.js';
import type { AccessMetrics } from '../metrics/access-metrics.js';

/** Rejects a request with 403 unless an authorizer allows it. */
export class AuthorizationGuard implements CanActivate {
  constructor(
    private readonly authorizers: readonly Authorizer[],
    private readonly metrics: AccessMetrics,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { info, user } = context.switchToHttp().getRequest<FastifyRequest>().kube;
    const attributes = new RequestAttributes(user, info);
    const beginMs = this.metrics.nowMs;
    const failed = (error: unknown): never => {
      this.metrics.authorized('error', beginMs);
      throw error;
    };
    const decided = (authorization: Authorization) => this.enforce(authorization, attributes, beginMs);
    let answer: Authorization | Promise<Authorization>;
    try {
      answer = authorize(this.authorizers, attributes);
    } catch (error) {
      return failed(error);
    }
    return answer instanceof Promise ? answer.then(decided, failed) : decided(answer);
  }

  private enforce({ decision, reason }: Authorization, attributes: AuthorizationAttributes, beginMs: number): true {
    this.metrics.authorized(decision, beginMs);
    if (decision === 'allow') return true;
    throw forbiddenError(attributes, reason);
  }
}

/** Attributes of an HTTP request. Its selectors are parsed only if an authorizer reads them. */
class RequestAttributes implements AuthorizationAttributes {
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;

  constructor(
    readonly user: UserInfo,
    private readonly info: RequestInfo,
  ) {
    this.verb = info.verb;
    this.isResourceRequest = info.isResourceRequest;
    this.group = info.group;
    this.version = info.version;
    this.resource = info.resource;
    this.subresource = info.subresource;
    this.namespace = info.namespace;
    this.name = info.name;
    this.path = info.path;
  }

  get fieldSelector(): FieldSelector | undefined {
    if (!collectionVerbs.includes(this.verb)) return undefined;
    try {
      return parseFieldSelector(this.info.query.first('fieldSelector') ?? '');
    } catch {
      // The request is rejected when it is handled.
      return undefined;
    }
  }
}

const collectionVerbs: readonly string[] = ['list', 'watch', 'deletecollection'];

import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { OutputNegotiator } from '../codec/negotiate.js';
import type { VisibleResources } from '../registry/visible-resources.js';

export interface ResourceNegotiators {
  readonly builtIn: OutputNegotiator;
  /** For kinds that are not in the catalog, which encodings that need a generated schema cannot write. */
  readonly custom: OutputNegotiator;
}

/**
 * Finds the resource of a request, then negotiates encoding and transformation (Table, PartialObjectMetadata) of the
 * response among those that its kind has, before the body is read. Handlers of other requests negotiate themselves.
 */
export class ContentNegotiationInterceptor implements NestInterceptor {
  constructor(
    private readonly registry: Pick<VisibleResources, 'find'>,
    private readonly negotiators: ResourceNegotiators,
    private readonly forwarded: { find(group: string, version: string): unknown },
  ) {}

  intercept(context: ExecutionContext, next: CallHandler) {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { kube } = request;
    if (kube.info.isResourceRequest) {
      const { group, version, resource, verb } = kube.info;
      const served = this.registry.find(group, version, resource);
      kube.served = served;
      // The server of an APIService negotiates by itself.
      if (!served && this.forwarded.find(group, version)) return next.handle();
      const negotiator = this.negotiators[served?.type === 'stored' && !served.struct ? 'custom' : 'builtIn'];
      const { accept } = request.raw.headers;
      kube.output = verb === 'watch' ? negotiator.negotiateStream(accept) : negotiator.negotiate(accept);
    }
    return next.handle();
  }
}

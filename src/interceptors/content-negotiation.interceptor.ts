import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { OutputNegotiator } from '../codec/negotiate.js';

/**
 * Negotiates encoding and transformation (Table, PartialObjectMetadata) of the response to a resource request, before
 * its body is read. Handlers of other requests negotiate themselves.
 */
export class ContentNegotiationInterceptor implements NestInterceptor {
  constructor(private readonly negotiator: OutputNegotiator) {}

  intercept(context: ExecutionContext, next: CallHandler) {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { kube } = request;
    if (kube.info.isResourceRequest) {
      const { accept } = request.raw.headers;
      kube.output =
        kube.info.verb === 'watch' ? this.negotiator.negotiateStream(accept) : this.negotiator.negotiate(accept);
    }
    return next.handle();
  }
}

import { All, Controller, Get, Req, Res, UseInterceptors } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ContentNegotiationInterceptor } from '../interceptors/content-negotiation.interceptor.js';
import type { Negotiation } from '../interceptors/content-negotiation.js';
import type { ResourceRequests } from './resource-requests.js';

/**
 * Handles everything under /api and /apis with wildcard routes, since routes are fixed at start while custom kinds
 * come and go. Unknown paths end here too, so that they are authenticated before they get 404.
 */
export function resourceController(requests: Pick<ResourceRequests, 'answer'>, negotiation: Negotiation) {
  @Controller()
  class ResourceController {
    /** Has no interceptor: what Nest creates around one costs 0.4 times a GET of a bare Node server (ADR 082). */
    @Get('*')
    read(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void | Promise<void> {
      negotiation.negotiate(request);
      return requests.answer(request, reply);
    }

    @All('*')
    @UseInterceptors(new ContentNegotiationInterceptor(negotiation))
    handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void | Promise<void> {
      return requests.answer(request, reply);
    }
  }
  return ResourceController;
}

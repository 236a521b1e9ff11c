import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ResourceRequests } from './resource-requests.js';

/**
 * Handles everything under /api and /apis with one wildcard route, since routes are fixed at start while custom kinds
 * come and go. Unknown paths end here too, so that they are authenticated before they get 404.
 */
export function resourceController(requests: Pick<ResourceRequests, 'answer'>) {
  @Controller()
  class ResourceController {
    @All('*')
    handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void | Promise<void> {
      return requests.answer(request, reply);
    }
  }
  return ResourceController;
}

import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ResourceRequests } from './resource-requests.js';

/**
 * Everything under /api and /apis, by one route: routes are fixed when the server starts, kinds come and go while it
 * runs. A path that is no resource's gets here too, so that it is authenticated like any other before it is 404.
 */
export function resourceController(requests: ResourceRequests) {
  @Controller()
  class ResourceController {
    @All('*')
    handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void | Promise<void> {
      return requests.answer(request, reply);
    }
  }
  return ResourceController;
}

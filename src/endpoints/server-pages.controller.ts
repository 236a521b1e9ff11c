import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServerPageRequests } from './server-page-requests.js';

export function serverPagesController(requests: ServerPageRequests) {
  @Controller()
  class ServerPagesController {
    @All(['statusz', 'flagz'])
    handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
      requests.answer(request, reply);
    }
  }
  return ServerPagesController;
}

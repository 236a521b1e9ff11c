import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OpenApiRequests } from './openapi-requests.js';

export function openApiController(requests: Pick<OpenApiRequests, 'answer'>) {
  @Controller('openapi')
  class OpenApiController {
    @All(['v2', 'v3', 'v3/*'])
    handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      return requests.answer(request, reply);
    }
  }
  return OpenApiController;
}

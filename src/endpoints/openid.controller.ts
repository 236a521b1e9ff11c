import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { configurationPath, keysPath, type OpenIdRequests } from './openid-requests.js';

export function openIdController(requests: Pick<OpenIdRequests, 'answer'>) {
  @Controller()
  class OpenIdController {
    @All([configurationPath, keysPath])
    handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      return requests.answer(request, reply);
    }
  }
  return OpenIdController;
}

import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ProfileRequests } from './profile-requests.js';

export function profileController(requests: ProfileRequests) {
  @Controller()
  class ProfileController {
    @All(['debug/pprof', 'debug/pprof/*'])
    handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      return requests.answer(request, reply);
    }
  }
  return ProfileController;
}

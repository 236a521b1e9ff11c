import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DiscoveryRequests } from './discovery-requests.js';

const paths = ['/', 'api', 'api/:version', 'apis', 'apis/:group', 'apis/:group/:version'];

export function discoveryController(requests: Pick<DiscoveryRequests, 'answer'>) {
  @Controller()
  class DiscoveryController {
    @All(paths)
    handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void | Promise<void> {
      return requests.answer(request, reply);
    }
  }
  return DiscoveryController;
}

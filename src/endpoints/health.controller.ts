import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { healthEndpoints } from './health-checks.js';
import type { HealthRequests } from './health-requests.js';

const paths = healthEndpoints.flatMap((endpoint) => [endpoint, `${endpoint}/*`]);

export function healthController(requests: Pick<HealthRequests, 'answer'>) {
  @Controller()
  class HealthController {
    @All(paths)
    handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      return requests.answer(request, reply);
    }
  }
  return HealthController;
}

import type { ArgumentsHost } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Returns the request of a guard or an interceptor. Unlike switchToHttp(), it allocates nothing. */
export function requestOf(context: ArgumentsHost): FastifyRequest {
  return context.getArgByIndex<FastifyRequest>(0);
}

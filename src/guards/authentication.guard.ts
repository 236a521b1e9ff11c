import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../machinery/api-error.js';
import type { RequestAuthenticator } from '../auth/request-authenticator.js';

/** Says who sends the request, or refuses it. Identity comes before everything that costs. */
export class AuthenticationGuard implements CanActivate {
  constructor(private readonly authenticator: RequestAuthenticator) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const result = this.authenticator.authenticate(request.raw, request.kube.info.path);
    if (result instanceof Promise) {
      return result.then((user) => {
        request.kube.user = required(user);
        return true;
      });
    }
    request.kube.user = required(result);
    return true;
  }
}

function required<T>(user: T | undefined): T {
  if (user === undefined) throw ApiError.unauthorized();
  return user;
}

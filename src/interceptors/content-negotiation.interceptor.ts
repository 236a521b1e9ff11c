import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { requestOf } from '../answers/request-of.js';
import type { Negotiation } from './content-negotiation.js';

/** Negotiates the response after the guards, before the handler. */
export class ContentNegotiationInterceptor implements NestInterceptor {
  constructor(private readonly negotiation: Negotiation) {}

  intercept(context: ExecutionContext, next: CallHandler) {
    this.negotiation.negotiate(requestOf(context));
    return next.handle();
  }
}

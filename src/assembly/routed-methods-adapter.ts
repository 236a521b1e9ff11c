import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { RouteHandlerMethod } from 'fastify';
import { routedMethods } from '../connections/unusual-requests.js';

/**
 * Registers a route for all methods as one for those that requests have after makeRoutable(), except methods that have a
 * route for the URL. Nest's own adapter adds ten further ones, which more than doubles the time in which a server gets its
 * routes. Unlike there, requests with an empty parameter (`/apis//v1`) reach the handler too, after the guards, as other
 * unknown paths do.
 */
export class RoutedMethodsAdapter extends FastifyAdapter {
  override all(url: string, handler: RouteHandlerMethod) {
    const server = this.getInstance();
    const method = [...routedMethods].filter((method) => !server.hasRoute({ method, url }));
    return server.route({ method, url, handler });
  }
}

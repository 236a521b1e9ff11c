import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import type { AppParts } from './components.js';
import { discoveryController } from '../endpoints/discovery.controller.js';
import { healthController } from '../endpoints/health.controller.js';
import { HealthRequests } from '../endpoints/health-requests.js';
import { logVerbosityController } from '../endpoints/log-verbosity.controller.js';
import { metricsController } from '../endpoints/metrics.controller.js';
import { openApiController } from '../endpoints/openapi.controller.js';
import { openIdController } from '../endpoints/openid.controller.js';
import { profileController } from '../endpoints/profile.controller.js';
import { ProfileRequests } from '../endpoints/profile-requests.js';
import { Profiles } from '../endpoints/profiles.js';
import { serverPagesController } from '../endpoints/server-pages.controller.js';
import { versionController } from '../endpoints/version.controller.js';
import { resourceController } from '../endpoints/resource.controller.js';
import { ApiErrorFilter } from '../filters/api-error.filter.js';
import { AuthenticationGuard } from '../guards/authentication.guard.js';
import { AuthorizationGuard } from '../guards/authorization.guard.js';
import { FlowControlGuard } from '../guards/flow-control.guard.js';
import { ImpersonationGuard } from '../guards/impersonation.guard.js';
import { ContentNegotiationInterceptor } from '../interceptors/content-negotiation.interceptor.js';

/**
 * The handler chain, in the order of execution. The hooks of http-server.ts run before it, for every request, including
 * those that a guard rejects. The filter turns every thrown error into a Status.
 */
@Module({})
export class PipelineModule {
  static for(parts: AppParts): DynamicModule {
    const { naming } = parts.config;
    return {
      module: PipelineModule,
      providers: [
        { provide: APP_GUARD, useFactory: () => new AuthenticationGuard(parts.authenticator, parts.accessMetrics) },
        {
          provide: APP_GUARD,
          useFactory: () => new ImpersonationGuard(parts.authorizers, naming.group('authentication')),
        },
        { provide: APP_GUARD, useFactory: () => new FlowControlGuard(parts.limiter) },
        { provide: APP_GUARD, useFactory: () => new AuthorizationGuard(parts.authorizers, parts.accessMetrics) },
        { provide: APP_INTERCEPTOR, useFactory: () => new ContentNegotiationInterceptor(parts.negotiator) },
        { provide: APP_FILTER, useFactory: () => new ApiErrorFilter(parts.logger, parts.encodings) },
      ],
      // resourceController is last: its wildcard route matches every path.
      controllers: [
        healthController(new HealthRequests(parts.health)),
        versionController(parts.version),
        metricsController(parts.metrics.all, parts.metrics.indicators),
        serverPagesController(parts.serverPages),
        logVerbosityController(parts.logger, parts.config.profiling),
        profileController(new ProfileRequests(new Profiles(parts.clock), parts.config.profiling)),
        discoveryController(parts.discovery),
        openApiController(parts.openApi),
        openIdController(parts.openId),
        resourceController(parts.requests),
      ],
    };
  }
}

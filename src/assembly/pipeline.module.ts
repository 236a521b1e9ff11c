import { Module, type CanActivate, type DynamicModule, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import type { ServerComponents } from './components.js';
import { discoveryController } from '../endpoints/discovery.controller.js';
import { faultsController } from '../endpoints/faults.controller.js';
import { flowControlController } from '../endpoints/flow-control.controller.js';
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
import { AuditGuard } from '../guards/audit.guard.js';
import { AuthenticationGuard } from '../guards/authentication.guard.js';
import { refusalWith } from '../auth/authorizer.js';
import { AuthorizationGuard } from '../guards/authorization.guard.js';
import { FaultGuard } from '../guards/fault.guard.js';
import { FlowControlGuard } from '../guards/flow-control.guard.js';
import { ImpersonationGuard } from '../guards/impersonation.guard.js';
import { EarlyTracingGuard } from '../guards/early-tracing.guard.js';
import { TracingGuard } from '../guards/tracing.guard.js';
import type { Tracing } from '../tracing/open-tracing.js';
import { ContentNegotiationInterceptor } from '../interceptors/content-negotiation.interceptor.js';

/**
 * The handler chain, in the order of execution. The hooks of http-server.ts run before it, for every request, including
 * those that a guard rejects. The filter turns every thrown error into a Status.
 */
@Module({})
export class PipelineModule {
  static for(components: ServerComponents): DynamicModule {
    const { faults } = components;
    const { naming, authorization } = components.config;
    const refusal = refusalWith(authorization.explainForbidden);
    return {
      module: PipelineModule,
      providers: [
        ...tracingGuards(components, ({ tracer }) => new EarlyTracingGuard(tracer)),
        {
          provide: APP_GUARD,
          useFactory: () => new AuthenticationGuard(components.authenticator, components.accessMetrics),
        },
        ...tracingGuards(components, ({ tracer }) => new TracingGuard(tracer, components.clock)),
        ...(components.auditor ? [{ provide: APP_GUARD, useFactory: () => new AuditGuard() }] : []),
        {
          provide: APP_GUARD,
          useFactory: () =>
            new ImpersonationGuard(
              components.authorizers,
              naming.group('authentication'),
              components.impersonation,
              refusal,
            ),
        },
        {
          provide: APP_GUARD,
          useFactory: () =>
            new FlowControlGuard({ ...components, requestTimeoutMs: components.config.requestTimeoutMs }),
        },
        {
          provide: APP_GUARD,
          useFactory: () =>
            new AuthorizationGuard(
              components.authorizers,
              components.accessMetrics,
              refusal,
              `${naming.group('authorization')}/`,
            ),
        },
        {
          provide: APP_GUARD,
          useFactory: () => new FaultGuard({ injector: faults, clock: components.clock, feed: components.feed }),
        },
        {
          provide: APP_INTERCEPTOR,
          useFactory: () =>
            new ContentNegotiationInterceptor(
              components.visible,
              components.negotiators,
              components.aggregation.versions,
            ),
        },
        { provide: APP_FILTER, useFactory: () => new ApiErrorFilter(components.logger, components.encodings) },
      ],
      // resourceController is last: its wildcard route matches every path.
      controllers: [
        healthController(new HealthRequests(components.health)),
        versionController(components.version),
        metricsController(components.metrics.all, components.metrics.indicators),
        serverPagesController(components.serverPages),
        logVerbosityController(components.logger, components.config.profiling),
        profileController(new ProfileRequests(new Profiles(components.clock), components.config.profiling)),
        flowControlController(components.flowControl, components.clock),
        faultsController(components.faults),
        discoveryController(components.discovery),
        openApiController(components.openApi),
        openIdController(components.openId),
        resourceController(components.requests),
      ],
    };
  }
}

function tracingGuards({ tracing }: ServerComponents, guard: (tracing: Tracing) => CanActivate): Provider[] {
  if (!tracing) return [];
  return [{ provide: APP_GUARD, useFactory: () => guard(tracing) }];
}

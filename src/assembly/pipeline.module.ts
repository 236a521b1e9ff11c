import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import type { ServerComponents } from './components.js';
import { requestGuards, requestNegotiation } from './request-guards.js';
import { discoveryController } from '../endpoints/discovery.controller.js';
import { faultsController } from '../endpoints/faults.controller.js';
import { storeStateController } from '../endpoints/store-state.controller.js';
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

/**
 * The handler chain, in the order of execution. The hooks of http-server.ts run before it, for every request, including
 * those that a guard rejects. The filter turns every thrown error into a Status.
 */
@Module({})
export class PipelineModule {
  static for(components: ServerComponents): DynamicModule {
    return {
      module: PipelineModule,
      providers: [
        ...requestGuards(components).map((guard) => ({ provide: APP_GUARD, useValue: guard })),
        { provide: APP_FILTER, useFactory: () => new ApiErrorFilter(components.logger, components.encodings) },
      ],
      // resourceController is last: its wildcard routes match every path.
      controllers: [
        healthController(new HealthRequests(components.health)),
        versionController(components.version),
        metricsController(components.metrics.all, components.metrics.indicators),
        serverPagesController(components.serverPages),
        logVerbosityController(components.logger, components.config.profiling),
        profileController(new ProfileRequests(new Profiles(components.clock), components.config.profiling)),
        flowControlController(components.flowControl, components.clock),
        faultsController(components.faults),
        storeStateController(stateOptions(components)),
        discoveryController(components.discovery),
        openApiController(components.openApi),
        openIdController(components.openId),
        resourceController(components.requests, requestNegotiation(components)),
      ],
    };
  }
}

/** In an etcd, other programs may have keys of their own. */
function stateOptions({ config: { storage }, store, refusalOf, clock }: ServerComponents) {
  const etcdPrefix = storage.etcd.prefix;
  return { store, prefix: storage.backend === 'etcd3' ? `${etcdPrefix}/` : '', etcdPrefix, refusalOf, clock };
}

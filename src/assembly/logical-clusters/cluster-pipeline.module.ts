import { Module, type CanActivate, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestOf } from '../../answers/request-of.js';
import type { AnyRequest } from '../../connections/raw-messages.js';
import type { VersionDocument } from '../../config/version-document.js';
import { discoveryController } from '../../endpoints/discovery.controller.js';
import { healthController } from '../../endpoints/health.controller.js';
import { openApiController } from '../../endpoints/openapi.controller.js';
import { openIdController } from '../../endpoints/openid.controller.js';
import { resourceController } from '../../endpoints/resource.controller.js';
import { versionController } from '../../endpoints/version.controller.js';
import type { ApiErrorFilter } from '../../filters/api-error.filter.js';
import type { Negotiation } from '../../interceptors/content-negotiation.js';

interface Requests {
  answer(request: FastifyRequest, reply: FastifyReply): void | Promise<void>;
}
interface AsyncRequests {
  answer(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** Handlers of the requests of one logical cluster, in the order of execution. */
export interface ClusterHandlers {
  readonly guards: readonly CanActivate[];
  readonly negotiation: Negotiation;
  readonly health: AsyncRequests;
  readonly discovery: Requests;
  readonly openApi: AsyncRequests;
  readonly openId: AsyncRequests;
  readonly resources: Requests;
}

interface Dependencies {
  /** Throws an ApiError if the request is refused. */
  readonly handlersOf: (request: AnyRequest) => ClusterHandlers;
  /** The same in every cluster. */
  readonly guardCount: number;
  readonly version: VersionDocument;
  readonly filter: ApiErrorFilter;
}

/**
 * The handler chain of all logical clusters: that of the root (pipeline.module.ts), in which each handler is that of the
 * cluster of the request. Pages about the process are those of the root alone: metrics, profiles, faults, flags.
 */
@Module({})
export class ClusterPipelineModule {
  static for({ handlersOf, guardCount, version, filter }: Dependencies): DynamicModule {
    const of = (request: FastifyRequest) => handlersOf(request.raw);
    const guards = Array.from({ length: guardCount }, (_, at): CanActivate => ({
      canActivate: (context) => of(requestOf(context)).guards[at]!.canActivate(context),
    }));
    return {
      module: ClusterPipelineModule,
      providers: [
        ...guards.map((guard) => ({ provide: APP_GUARD, useValue: guard })),
        { provide: APP_FILTER, useValue: filter },
      ],
      controllers: [
        healthController({ answer: (request, reply) => of(request).health.answer(request, reply) }),
        versionController(version),
        discoveryController({ answer: (request, reply) => of(request).discovery.answer(request, reply) }),
        openApiController({ answer: (request, reply) => of(request).openApi.answer(request, reply) }),
        openIdController({ answer: (request, reply) => of(request).openId.answer(request, reply) }),
        resourceController(
          { answer: (request, reply) => of(request).resources.answer(request, reply) },
          { negotiate: (request) => of(request).negotiation.negotiate(request) },
        ),
      ],
    };
  }
}

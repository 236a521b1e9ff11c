import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { of } from 'rxjs';
import { requestOf } from '../answers/request-of.js';
import type { OutputNegotiator } from '../codec/negotiate.js';
import type { VisibleResources } from '../registry/visible-resources.js';

export interface ResourceNegotiators {
  readonly builtIn: OutputNegotiator;
  /** For kinds that are not in the catalog, which encodings that need a generated schema cannot write. */
  readonly custom: OutputNegotiator;
}

/** Answers a resource request. Returns a promise if the answer needs the store. */
interface ResourceAnswerer {
  answer(request: FastifyRequest, reply: FastifyReply): void | Promise<void>;
}

/** The result of a request that was answered: handlers send their responses themselves. */
const answered = of(undefined);

/**
 * Finds the resource of a request, then negotiates encoding and transformation (Table, PartialObjectMetadata) of the
 * response among those that its kind has, before the body is read. Handlers of other requests negotiate themselves.
 *
 * Answers a GET of one object itself, as Nest's CacheInterceptor does: the observables between an interceptor and the
 * handler cost a tenth of it (ADR 078).
 */
export class ContentNegotiationInterceptor implements NestInterceptor {
  constructor(
    private readonly registry: Pick<VisibleResources, 'find'>,
    private readonly negotiators: ResourceNegotiators,
    private readonly forwarded: { find(group: string, version: string): unknown },
    private readonly requests: ResourceAnswerer,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler) {
    const request = requestOf(context);
    const { kube } = request;
    const { info } = kube;
    if (!info.isResourceRequest) return next.handle();
    const { group, version, verb } = info;
    const served = this.registry.find(group, version, info.resource);
    kube.served = served;
    // The server of an APIService negotiates by itself.
    if (!served && this.forwarded.find(group, version)) return next.handle();
    const negotiator = this.negotiators[served?.type === 'stored' && !served.struct ? 'custom' : 'builtIn'];
    const { accept } = request.raw.headers;
    kube.output = verb === 'watch' ? negotiator.negotiateStream(accept) : negotiator.negotiate(accept);
    if (verb !== 'get' || info.subresource !== '') return next.handle();
    const answering = this.requests.answer(request, context.getArgByIndex<FastifyReply>(1));
    return answering ? answering.then(() => answered) : answered;
  }
}

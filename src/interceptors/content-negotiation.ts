import type { FastifyRequest } from 'fastify';
import type { OutputNegotiator } from '../codec/negotiate.js';
import type { VisibleResources } from '../registry/visible-resources.js';

export interface ResourceNegotiators {
  readonly builtIn: OutputNegotiator;
  /** For kinds that are not in the catalog, which encodings that need a generated schema cannot write. */
  readonly custom: OutputNegotiator;
}

/** Decides how a resource request is answered. */
export interface Negotiation {
  negotiate(request: FastifyRequest): void;
}

/**
 * Finds the resource of a request, then negotiates encoding and transformation (Table, PartialObjectMetadata) of the
 * response among those that its kind has, before the body is read. Handlers of other requests negotiate themselves.
 */
export class ContentNegotiation implements Negotiation {
  constructor(
    private readonly registry: Pick<VisibleResources, 'find'>,
    private readonly negotiators: ResourceNegotiators,
    private readonly forwarded: { find(group: string, version: string): unknown },
  ) {}

  negotiate({ kube, raw }: FastifyRequest): void {
    const { info } = kube;
    if (!info.isResourceRequest) return;
    const { group, version } = info;
    const served = this.registry.find(group, version, info.resource);
    kube.served = served;
    // The server of an APIService negotiates by itself.
    if (!served && this.forwarded.find(group, version)) return;
    const negotiator = this.negotiators[served?.type === 'stored' && !served.struct ? 'custom' : 'builtIn'];
    const { accept } = raw.headers;
    kube.output = info.verb === 'watch' ? negotiator.negotiateStream(accept) : negotiator.negotiate(accept);
  }
}

import type { Endpoints, Pod, Service } from '../../catalog/types/core.v1.js';
import type { EndpointSlice } from '../../catalog/types/discovery.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ApiError } from '../../machinery/api-error.js';
import { goQuote } from '../../machinery/field-error.js';
import { parseListOptions } from '../../machinery/list-options.js';
import { Query } from '../../machinery/query.js';
import { listObjects } from '../../registry/read/list.js';
import type { RequestContext } from '../../registry/request-context.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { Rng } from '../../std/rng.js';
import { coreVersion } from './core.version.js';

interface ServiceRequest {
  readonly namespace: string;
  /** As in the path: `https:name:port`. */
  readonly id: string;
  readonly name: string;
  /** A number or name of a port of the Service; '' for its port without a name. */
  readonly port: string;
  readonly context: RequestContext;
}

interface Location {
  readonly host: string;
  readonly port: number;
}

interface Candidate extends Location {
  readonly podNamespace: string;
  readonly podName: string;
}

/** Finds endpoints of Services for proxies: only addresses of Pods in the namespace of the Service. */
export class ServiceLocations {
  constructor(
    private readonly registry: ResourceRegistry,
    private readonly naming: Pick<NamingProfile, 'group' | 'label'>,
    private readonly rng: Rng,
  ) {}

  /** Returns a random ready endpoint. Throws 503 if there is none. */
  async find(request: ServiceRequest): Promise<Location> {
    const { namespace, id, name, context } = request;
    const portName = await this.portName(request);
    const candidates =
      (await this.ofEndpoints(namespace, name, portName, context)) ?? (await this.ofSlices(request, portName));
    if (candidates === undefined) throw noEndpoints(name);
    const first = candidates.length === 0 ? 0 : this.rng.below(candidates.length);
    for (let tried = 0; tried < candidates.length; tried++) {
      const { podNamespace, podName, host, port } = candidates[(first + tried) % candidates.length]!;
      // Endpoints can be written by users who may not reach other addresses.
      if (podNamespace === namespace && this.hasAddress(namespace, podName, host)) return { host, port };
    }
    throw noEndpoints(id);
  }

  private async portName({ namespace, name, port, context }: ServiceRequest): Promise<string> {
    if (!/^[+-]?\d+$/.test(port)) return port;
    const service: Service = (await this.store('services').get(namespace, name, { caller: context })).parse();
    const found = service.spec?.ports?.find((one) => one.port === Number(port));
    if (found) return found.name ?? '';
    throw ApiError.unavailable(`no service port ${Number(port)} found for service ${goQuote(name)}`);
  }

  /** Undefined for Endpoints without subsets; throws 404 if there are neither Endpoints nor EndpointSlices. */
  private async ofEndpoints(
    namespace: string,
    name: string,
    portName: string,
    context: RequestContext,
  ): Promise<readonly Candidate[] | undefined> {
    let endpoints: Endpoints;
    try {
      endpoints = (await this.store('endpoints').get(namespace, name, { caller: context })).parse();
    } catch (error) {
      const slices = await this.slices(namespace, name, context);
      if (slices.length > 0) return undefined;
      throw error;
    }
    if (!endpoints.subsets?.length) return undefined;
    return endpoints.subsets.flatMap(({ addresses, ports }) => {
      const port = ports?.find((one) => (one.name ?? '') === portName)?.port;
      if (port === undefined) return [];
      return (addresses ?? []).map(({ ip: host = '', targetRef }) => ({
        ...{ host, port },
        podNamespace: targetRef?.namespace ?? '',
        podName: targetRef?.name ?? '',
      }));
    });
  }

  /** kube-apiserver reads Endpoints only; clusters without their controller have EndpointSlices. */
  private async ofSlices({ namespace, name, context }: ServiceRequest, portName: string) {
    const slices = await this.slices(namespace, name, context);
    if (slices.length === 0) return undefined;
    const found: Candidate[] = [];
    for (const { endpoints, ports, addressType } of slices) {
      const port = ports?.find((one) => (one.name ?? '') === portName)?.port;
      if (port === undefined || port === null || addressType === 'FQDN') continue;
      for (const { addresses, conditions, targetRef } of endpoints ?? []) {
        // Unknown readiness counts as ready.
        if (conditions?.ready === false) continue;
        const pod = { podNamespace: targetRef?.namespace ?? '', podName: targetRef?.name ?? '' };
        for (const host of addresses ?? []) found.push({ host, port, ...pod });
      }
    }
    return found;
  }

  private async slices(namespace: string, name: string, { signal }: RequestContext): Promise<EndpointSlice[]> {
    const served = this.registry.find(this.naming.group('discovery'), 'v1', 'endpointslices');
    if (served?.type !== 'stored') return [];
    const options = parseListOptions(new Query(''), { metaGroup: '' });
    const label = this.naming.label('service-name');
    const { items } = await listObjects(served.store, { namespace, options, caller: { signal } });
    // Parses those of the Service alone: a namespace may have thousands of others.
    return items
      .filter(({ attributes }) => attributes.labels?.[label] === name)
      .map((item) => item.parse() as EndpointSlice);
  }

  private hasAddress(namespace: string, podName: string, host: string): boolean {
    const { cache } = this.store('pods');
    const pod: Pod | undefined = cache.get(this.store('pods').keyOf(namespace, podName))?.parse();
    return pod?.status?.podIPs?.some(({ ip }) => ip === host) === true;
  }

  private store(plural: string) {
    return this.registry.require(coreVersion.group, coreVersion.version, plural).store;
  }
}

const noEndpoints = (name: string): ApiError =>
  ApiError.unavailable(`no endpoints available for service ${goQuote(name)}`);

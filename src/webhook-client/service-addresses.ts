import type { Endpoints, Service, ServicePort } from '../catalog/types/core.v1.js';
import type { EndpointSlice } from '../catalog/types/discovery.v1.js';
import type { NamingProfile } from '../config/naming-profile.js';
import { goQuote } from '../machinery/go-quote.js';
import type { GroupResource } from '../machinery/gvk.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import { WebhookCallError } from './webhook-call-error.js';

/** Reads Services and their endpoints from the caches. */
interface ServiceObjects {
  cached(resource: GroupResource, namespace: string, name: string): KubeObject | undefined;
  scan(resource: GroupResource, namespace: string): { readonly objects: Iterable<KubeObject> };
}

interface ServiceAddress {
  readonly host: string;
  readonly port: number;
}

interface Dependencies {
  readonly objects: ServiceObjects;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly rng: Rng;
}

/** All EndpointSlices of a namespace are read to find those of a Service: once in this time. */
const keptMs = 1_000;
/** Services whose addresses are kept. */
const keptMax = 1_000;

/**
 * Finds the addresses of Services. There need not be a proxy for cluster IPs on the machine of this server, so that it
 * connects to a ready endpoint; of a Service of type ExternalName to that name.
 */
export class ServiceAddresses {
  private readonly kept = new Map<
    string,
    { readonly addresses: readonly ServiceAddress[]; readonly untilMs: number }
  >();

  constructor(private readonly dependencies: Dependencies) {}

  /** Returns the address of one of the endpoints. Throws WebhookCallError if there is none. */
  resolve(namespace: string, name: string, port: number): ServiceAddress {
    const { clock, rng } = this.dependencies;
    const key = `${namespace}/${name}:${port}`;
    const nowMs = clock.monotonicMs();
    let found = this.kept.get(key);
    if (!found || found.untilMs <= nowMs) {
      if (this.kept.size >= keptMax) this.kept.clear();
      found = { addresses: this.find(namespace, name, port), untilMs: nowMs + keptMs };
      this.kept.set(key, found);
    }
    const { addresses } = found;
    if (addresses.length === 0) throw new WebhookCallError(`no endpoints available for service ${goQuote(name)}`, 503);
    return addresses[addresses.length === 1 ? 0 : rng.below(addresses.length)]!;
  }

  /** Returns the cluster IP, or the name of a Service of type ExternalName. Throws WebhookCallError if it has neither. */
  resolveClusterIp(namespace: string, name: string, port: number): ServiceAddress {
    const service = this.service(namespace, name);
    const external = externalAddress(service, name, port);
    if (external) return external;
    portOf(service, name, port);
    const { clusterIP: host = '' } = service.spec ?? {};
    if (host === '' || host === 'None') throw new WebhookCallError(`service ${goQuote(name)} has no cluster IP`, 503);
    return { host, port };
  }

  /** Makes the next resolve() read the endpoints, after a connection that failed. */
  forget(namespace: string, name: string, port: number): void {
    this.kept.delete(`${namespace}/${name}:${port}`);
  }

  private find(namespace: string, name: string, port: number): readonly ServiceAddress[] {
    const service = this.service(namespace, name);
    const external = externalAddress(service, name, port);
    if (external) return [external];
    const portName = portOf(service, name, port).name ?? '';
    return this.ofSlices(namespace, name, portName) ?? this.ofEndpoints(namespace, name, portName);
  }

  private service(namespace: string, name: string): Service {
    const { objects } = this.dependencies;
    const service: Service | undefined = objects.cached({ group: '', resource: 'services' }, namespace, name);
    if (!service) throw new WebhookCallError(`service ${goQuote(name)} not found`, 404);
    return service;
  }

  /** Undefined if there is no EndpointSlice of the Service. */
  private ofSlices(namespace: string, name: string, portName: string): readonly ServiceAddress[] | undefined {
    const { objects, naming } = this.dependencies;
    const resource = { group: naming.group('discovery'), resource: 'endpointslices' };
    const label = naming.label('service-name');
    const found: ServiceAddress[] = [];
    let hasSlice = false;
    for (const object of objects.scan(resource, namespace).objects) {
      if (object.metadata.labels?.[label] !== name) continue;
      hasSlice = true;
      const slice = object as KubeObject & EndpointSlice;
      const port = (slice.ports ?? []).find((one) => (one.name ?? '') === portName)?.port;
      if (port === undefined || port === null || slice.addressType === 'FQDN') continue;
      for (const { addresses, conditions } of slice.endpoints ?? []) {
        // Unknown readiness counts as ready.
        if (conditions?.ready === false) continue;
        for (const host of addresses ?? []) found.push({ host, port });
      }
    }
    return hasSlice ? found : undefined;
  }

  private ofEndpoints(namespace: string, name: string, portName: string): readonly ServiceAddress[] {
    const { objects } = this.dependencies;
    const endpoints: Endpoints | undefined = objects.cached({ group: '', resource: 'endpoints' }, namespace, name);
    return (endpoints?.subsets ?? []).flatMap(({ addresses, ports }) => {
      const port = (ports ?? []).find((one) => (one.name ?? '') === portName)?.port;
      return port === undefined ? [] : (addresses ?? []).map(({ ip = '' }) => ({ host: ip, port }));
    });
  }
}

/** Undefined for a Service of another type than ExternalName. */
function externalAddress({ spec }: Service, name: string, port: number): ServiceAddress | undefined {
  if (spec?.type !== 'ExternalName') return undefined;
  const { externalName: host = '' } = spec;
  if (host === '') throw new WebhookCallError(`service ${goQuote(name)} has no externalName`, 503);
  return { host, port };
}

function portOf({ spec }: Service, name: string, port: number): ServicePort {
  const found = spec?.ports?.find((one) => one.port === port);
  if (!found) throw new WebhookCallError(`no service port ${port} found for service ${goQuote(name)}`, 503);
  return found;
}

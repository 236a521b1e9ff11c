import type { ServiceRef } from '../../service-allocation/ip-addresses.js';

/** An allocated cluster IP: an IPAddress object and the Service in its parentRef. */
export interface Allocation {
  /** The address. */
  readonly name: string;
  readonly service: ServiceRef | undefined;
  /** True if the server created the IPAddress and may delete it; users may create IPAddresses, too. */
  readonly isManaged: boolean;
}

/** A Service and its cluster IPs. */
export interface Holder {
  readonly service: ServiceRef;
  readonly names: ReadonlySet<string>;
}

interface Findings {
  /** Addresses that a Service has without an IPAddress. */
  readonly missing: readonly { readonly name: string; readonly service: ServiceRef }[];
  /** Addresses whose IPAddress names a Service that does not have them. */
  readonly leaked: readonly string[];
  /** Addresses of several Services, or of one while the IPAddress names another. */
  readonly contested: readonly { readonly name: string; readonly services: readonly ServiceRef[] }[];
}

const keyOf = ({ namespace, name }: ServiceRef): string => `${namespace}/${name}`;

export function compareAllocations(holders: Iterable<Holder>, allocations: Iterable<Allocation>): Findings {
  const held = new Map<string, ServiceRef[]>();
  for (const { service, names } of holders) {
    for (const name of names) {
      const services = held.get(name);
      if (services) services.push(service);
      else held.set(name, [service]);
    }
  }
  const missing: { name: string; service: ServiceRef }[] = [];
  const leaked: string[] = [];
  const contested: { name: string; services: ServiceRef[] }[] = [];
  const allocated = new Set<string>();
  for (const { name, service, isManaged } of allocations) {
    allocated.add(name);
    const services = held.get(name) ?? [];
    const isRight = service !== undefined && services.some((it) => keyOf(it) === keyOf(service));
    if (isRight) continue;
    if (isManaged) leaked.push(name);
    // Users may create IPAddresses, but not those of Services.
    else if (services.length > 0) contested.push({ name, services: [...services, ...(service ? [service] : [])] });
  }
  for (const [name, services] of held) {
    if (services.length > 1) contested.push({ name, services });
    if (!allocated.has(name)) missing.push({ name, service: services[0]! });
  }
  return { missing, leaked, contested };
}

import type { Aggregation } from '../aggregation/aggregation.js';
import { identityHeaderNames } from '../aggregation/identity-headers.js';
import { RemoteClient } from '../aggregation/remote-client.js';
import { RemoteDocuments } from '../aggregation/remote-documents.js';
import { RemoteTargets } from '../aggregation/remote-targets.js';
import { RemoteVersions } from '../aggregation/remote-versions.js';
import { UnavailableVersions } from '../aggregation/unavailable-versions.js';
import { RegistryReader } from '../admission/registry-reader.js';
import type { Live } from '../certificates/live.js';
import type { KeyPairPem } from '../certificates/pem.js';
import type { ServerConfig } from '../config/server-config.js';
import { Upstreams } from '../forwarding/upstreams.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import { ServiceAddresses } from '../webhook-client/service-addresses.js';

interface Dependencies {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly proxyClient: Live<KeyPairPem> | undefined;
  /** Absent: all addresses. */
  readonly permitsForwarding: ((address: string) => boolean) | undefined;
  readonly clock: Clock;
  readonly rng: Rng;
}

export function makeAggregation(dependencies: Dependencies): Aggregation {
  const { config, registry, proxyClient, permitsForwarding: permitsAddress, clock, rng } = dependencies;
  const { naming, authentication, featureGates, limits } = config;
  const services = new ServiceAddresses({ objects: new RegistryReader(registry), naming, clock, rng });
  const targets = new RemoteTargets({
    ...{ services, client: proxyClient },
    routesToEndpoints: config.aggregation.routesToEndpoints,
  });
  const upstreams = new Upstreams({ clock, permitsAddress });
  const sendsUid = featureGates['RemoteRequestHeaderUID'] === true;
  const headerNames = identityHeaderNames(authentication.requestHeader, sendsUid);
  return {
    ...{ targets, upstreams, headerNames },
    versions: new RemoteVersions({ registry, group: naming.group('apiregistration') }),
    documents: new RemoteDocuments(),
    unavailable: new UnavailableVersions(),
    client: new RemoteClient({
      ...{ targets, upstreams, clock },
      names: headerNames,
      timeoutMs: limits.aggregatedCallTimeoutMs,
      userName: `system:${naming.systemName('aggregator')}`,
    }),
  };
}

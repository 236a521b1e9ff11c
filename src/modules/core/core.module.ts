import { Module, type DynamicModule } from '@nestjs/common';
import type { AdmissionChain } from '../../admission/admission-chain.js';
import type { ServiceAccountTokens } from '../../auth/service-account-tokens.js';
import type { ServerConfig } from '../../config/server-config.js';
import type { ForwardTls } from '../../forwarding/forward-target.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { ServiceAllocation } from '../../service-allocation/service-allocation.js';
import type { Rng } from '../../std/rng.js';
import type { Component } from './component-status.js';
import { Connections } from './connections.js';
import { CoreGroup } from './core.group.js';
import { Kubelets } from './kubelets.js';
import { ServiceLocations } from './service-locations.js';

interface CoreDependencies {
  readonly registry: ResourceRegistry;
  readonly admission: AdmissionChain;
  /** The API group of ListOptions and DeleteOptions in error messages: `meta.k8s.io`. */
  readonly metaGroup: string;
  readonly store: { readonly revision: () => Promise<unknown> };
  readonly accountTokens: ServiceAccountTokens;
  readonly serviceAllocation: ServiceAllocation;
  /** The CA and client certificate for kubelets. */
  readonly kubeletTls: () => ForwardTls;
  readonly rng: Rng;
  readonly config: Pick<ServerConfig, 'authentication' | 'featureGates' | 'naming' | 'kubelets'>;
}

@Module({})
export class CoreModule {
  static for({
    registry,
    admission,
    metaGroup,
    store,
    accountTokens,
    serviceAllocation,
    kubeletTls,
    rng,
    config,
  }: CoreDependencies): DynamicModule {
    const { apiAudiences: audiences } = config.authentication;
    const tokenRequests = {
      tokens: accountTokens,
      audiences,
      labelDomain: config.naming.labelDomain,
      authenticationGroup: config.naming.group('authentication'),
      checksUid: config.featureGates['TokenRequestServiceAccountUIDValidation'] === true,
    };
    // Only the store: the server does not know the addresses of schedulers and controller managers.
    const components: readonly Component[] = [{ name: 'etcd-0', check: async () => void (await store.revision()) }];
    const connections = new Connections({
      registry,
      kubelets: new Kubelets(registry, { ...config.kubelets, tls: kubeletTls }),
      services: new ServiceLocations(registry, config.naming, rng),
      logSelectsStream: config.featureGates['PodLogsQuerySplitStreams'] === true,
    });
    return {
      module: CoreModule,
      providers: [
        {
          provide: CoreGroup,
          useFactory: () =>
            new CoreGroup(registry, admission, metaGroup, tokenRequests, components, serviceAllocation, connections),
        },
      ],
    };
  }
}

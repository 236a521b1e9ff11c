import type { EncodedObject } from '../../cache/encoded-object.js';
import { firstAddressOf } from '../../machinery/ip-range.js';
import { isIPv4 } from 'node:net';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { ServerConfig } from '../../config/server-config.js';
import type { Clock } from '../../std/clock.js';
import { ensureApiServices } from './api-services.js';
import type { BootStep } from './boot.js';
import { ensureObject, type BootObject } from './ensure-object.js';
import { flowcontrolObjects } from './flowcontrol-objects.js';
import { ensureClientTrust, type ClientTrust } from './client-trust.js';
import { namespaceObjects } from './namespace-objects.js';
import { priorityClassObjects } from './priority-class-objects.js';
import { ensureRoles } from './roles/ensure-roles.js';
import { ensureServiceCidr } from './service-cidr-object.js';
import type { Upstream } from '../upstream-presence.js';
import { tokenTracking } from './token-tracking-object.js';

interface Dependencies {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly clock: Clock;
}

/** Facts of the running server. */
interface Server {
  readonly rootCa: { current(): string };
  readonly clientTrust: { current(): ClientTrust };
  readonly upstream: Upstream;
  readonly port: number;
}

/**
 * The steps that write the initial objects of a cluster and restore those that a start may restore. Several servers may
 * run them at the same time. A stage begins when every step of the one before it has been tried.
 */
export function bootStages(dependencies: Dependencies, server: Server): (() => BootStep[])[] {
  const { config, registry } = dependencies;
  const { naming } = config;
  const write = (boot: BootObject): BootStep => ({ name: nameOf(boot), run: () => ensureObject(registry, boot) });
  const namespaces = bootNamespaces(config);
  return [
    () => namespaces.map((object) => write({ resource: 'namespaces', object, keeps: [] })),
    () => [{ name: 'servicecidrs', run: () => ensureServiceCidr(dependencies) }],
    () => [write(ownService(config, server.port))],
    () => {
      const { cache, scope } = namespacesOf(dependencies);
      const active = [...cache.snapshot().range(scope)].filter((entry) => !entry.corruption && !isTerminating(entry));
      const names = active.map(({ attributes }) => attributes.name);
      const facts = { rootCaPem: server.rootCa.current(), isLeftToUpstream: () => server.upstream.isActive() };
      const everywhere = new Set([...names, ...namespaces.map(({ metadata }) => metadata.name!)]);
      return [...everywhere].flatMap((name) => namespaceObjects(config, name, facts).map(write));
    },
    () => [
      {
        name: 'configmaps/extension-apiserver-authentication',
        run: () => ensureClientTrust(registry, naming, server.clientTrust.current(), dependencies.clock.now()),
      },
      write(tokenTracking(config, dependencies.clock.now())),
      ...flowcontrolObjects(naming).map(write),
      ...priorityClassObjects(naming).map(write),
      { name: 'apiservices', run: () => ensureApiServices(registry, naming) },
      { name: 'roles', run: () => ensureRoles(registry, naming) },
    ],
  ];
}

/** The steps for a logical cluster. It has no trust in client certificates, no own Service and no flow control of its own. */
export function logicalClusterStages(dependencies: Dependencies, server: Pick<Server, 'rootCa'>): (() => BootStep[])[] {
  const { config, registry } = dependencies;
  const { naming } = config;
  const write = (boot: BootObject): BootStep => ({ name: nameOf(boot), run: () => ensureObject(registry, boot) });
  const namespaces = bootNamespaces(config);
  const facts = { rootCaPem: server.rootCa.current(), isLeftToUpstream: () => false };
  return [
    () => namespaces.map((object) => write({ resource: 'namespaces', object, keeps: [] })),
    () => [
      { name: 'servicecidrs', run: () => ensureServiceCidr(dependencies) },
      ...namespaces.flatMap(({ metadata }) => namespaceObjects(config, metadata.name!, facts).map(write)),
      ...priorityClassObjects(naming).map(write),
      { name: 'apiservices', run: () => ensureApiServices(registry, naming) },
      { name: 'roles', run: () => ensureRoles(registry, naming) },
    ],
  ];
}

function nameOf({ resource, object: { metadata } }: BootObject): string {
  return [resource, metadata.namespace, metadata.name].filter((part) => part !== undefined).join('/');
}

function namespacesOf({ registry }: Dependencies) {
  const { store } = registry.require('', 'v1', 'namespaces');
  return { cache: store.cache, scope: store.scopeOf('') };
}

function isTerminating(entry: EncodedObject): boolean {
  return entry.parse().metadata.deletionTimestamp !== undefined;
}

function bootNamespaces({ naming }: ServerConfig): KubeObject[] {
  const names = [
    'default',
    ...(['system', 'public', 'node-lease'] as const).map((name) => naming.systemNamespace(name)),
  ];
  return names.map((name) => ({ kind: 'Namespace', apiVersion: 'v1', metadata: { name } }));
}

/** The Service `kubernetes`, through which Pods reach the server. */
function ownService(config: ServerConfig, port: number): BootObject {
  const { naming, network } = config;
  const metadata = {
    name: naming.serviceName,
    namespace: 'default',
    labels: { component: 'apiserver', provider: naming.serviceName },
  };
  const address = firstAddressOf(network.serviceClusterIpRanges[0]!);
  const family = isIPv4(address) ? 'IPv4' : 'IPv6';
  return {
    resource: 'services',
    keeps: ['spec'],
    object: {
      kind: 'Service',
      apiVersion: 'v1',
      metadata,
      spec: {
        type: network.serverServiceNodePort > 0 ? 'NodePort' : 'ClusterIP',
        clusterIP: address,
        clusterIPs: [address],
        ipFamilies: [family],
        ipFamilyPolicy: 'SingleStack',
        internalTrafficPolicy: 'Cluster',
        sessionAffinity: 'None',
        ports: [
          {
            name: 'https',
            port: 443,
            protocol: 'TCP',
            targetPort: port,
            ...(network.serverServiceNodePort > 0 && { nodePort: network.serverServiceNodePort }),
          },
        ],
      },
    },
  };
}

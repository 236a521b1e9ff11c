import type { EncodedObject } from '../../cache/encoded-object.js';
import { firstAddressOf } from '../../machinery/ip-range.js';
import { isIPv4 } from 'node:net';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { ServerConfig } from '../../config/server-config.js';
import type { Clock } from '../../std/clock.js';
import { ensureApiServices } from './api-services.js';
import { ensureObject, type BootObject } from './ensure-object.js';
import { flowcontrolObjects } from './flowcontrol-objects.js';
import { namespaceObjects, type Authority } from './namespace-objects.js';
import { priorityClassObjects } from './priority-class-objects.js';
import { ensureRoles } from './roles/ensure-roles.js';
import { ensureServiceCidr } from './service-cidr-object.js';
import { tokenTracking } from './token-tracking-object.js';

interface Parts {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly clock: Clock;
}

interface Server {
  readonly pki: Authority;
  readonly port: number;
}

/** Makes what every cluster begins with, and puts right what a start may put right. Safe to run on several servers. */
export async function ensureBootObjects(parts: Parts, server: Server): Promise<void> {
  const namespaces = bootNamespaces(parts.config);
  for (const object of namespaces) await ensureObject(parts.registry, { resource: 'namespaces', object, keeps: [] });
  await ensureServiceCidr(parts);
  await ensureObject(parts.registry, ownService(parts.config, server.port));
  const { cache, scope } = namespacesOf(parts);
  const alive = [...cache.snapshot().range(scope)].filter((entry) => !entry.corruption && !isTerminating(entry));
  const names = alive.map(({ attributes }) => attributes.name);
  const everywhere = new Set([...names, ...namespaces.map(({ metadata }) => metadata.name!)]);
  await Promise.all(
    [...everywhere].flatMap((name) =>
      namespaceObjects(parts.config, name, server.pki).map((boot) => ensureObject(parts.registry, boot)),
    ),
  );
  await Promise.all([
    ensureObject(parts.registry, clientAuthentication(parts.config, server)),
    ensureObject(parts.registry, tokenTracking(parts.config, parts.clock.now())),
    ...flowcontrolObjects(parts.config.naming).map((boot) => ensureObject(parts.registry, boot)),
    ...priorityClassObjects(parts.config.naming).map((boot) => ensureObject(parts.registry, boot)),
    ensureApiServices(parts.registry, parts.config.naming),
    ensureRoles(parts.registry, parts.config.naming),
  ]);
}

function namespacesOf({ registry }: Parts) {
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

/** Pods find the server under this name. Clients outside use the address they were given. */
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

/** How other servers (aggregated ones, controller managers) learn whom to trust for client certificates. */
function clientAuthentication({ naming }: ServerConfig, { pki }: Server): BootObject {
  return {
    resource: 'configmaps',
    keeps: ['data'],
    object: {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'extension-apiserver-authentication', namespace: naming.systemNamespace('system') },
      data: { 'client-ca-file': pki.authority.current().pem },
    },
  };
}

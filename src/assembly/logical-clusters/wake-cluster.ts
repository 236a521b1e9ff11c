import { hostname } from 'node:os';
import { serveBuiltInGroups } from '../../app.module.js';
import { AuthorizationWebhookMetrics } from '../../metrics/authorization-webhook-metrics.js';
import { WebhookMetrics } from '../../metrics/webhook-metrics.js';
import type { LiveRootCa } from '../../certificates/root-ca.js';
import type { WatchStreams } from '../../endpoints/watch-stream.js';
import { HealthRequests } from '../../endpoints/health-requests.js';
import { ApiError } from '../../machinery/api-error.js';
import { rbacVersion } from '../../modules/rbac/rbac.resources.js';
import { logicalClusterStages } from '../../reconcilers/boot/boot-objects.js';
import { Boot } from '../../reconcilers/boot/boot.js';
import { ensureObject } from '../../reconcilers/boot/ensure-object.js';
import { ReconcilerRunner } from '../../reconcilers/reconciler-runner.js';
import { builtInReconcilers } from '../../reconcilers/reconcilers.js';
import { noUpstream } from '../../reconcilers/upstream-presence.js';
import { clusterPrefix, clusterTokenKeys } from '../../logical-clusters/cluster-keys.js';
import { ClusterStore } from '../../logical-clusters/cluster-store.js';
import type { AwakeCluster, ClusterIdentity } from '../../logical-clusters/logical-clusters.js';
import type { Logger } from '../../std/logger.js';
import type { AuthorizationSource } from '../authorization-source.js';
import { makeComponents, type ServerComponents } from '../components.js';
import { requestGuards, requestNegotiation } from '../request-guards.js';
import { UndoSteps } from '../undo-steps.js';
import { ClusterAuthenticator } from './cluster-authenticator.js';
import { clusterConfig } from './cluster-config.js';
import type { ClusterHandlers } from './cluster-pipeline.module.js';

/** Parts of the server that its logical clusters use. */
export interface RootServer {
  readonly components: ServerComponents;
  readonly rootCa: LiveRootCa;
  readonly port: number;
}

/** A logical cluster in memory. */
export interface WokenCluster extends AwakeCluster {
  readonly handlers: ClusterHandlers;
  readonly watches: Pick<WatchStreams, 'endAll'>;
}

/**
 * Reconcilers of the server itself, of nodes, and of what a logical cluster does not have. No certificate is signed in a
 * cluster: the CA is that of the root, whose users its certificates would name.
 */
const notInClusters: readonly (typeof builtInReconcilers)[number]['name'][] = [
  'apiservice-remote-availability',
  'apiservice-remote-documents',
  'bootstrap-signer-controller',
  'certificatesigningrequest-approving-controller',
  'certificatesigningrequest-signing-controller',
  'cluster-authentication-trust-controller',
  'flow-control-defaults',
  'flow-schema-controller',
  'legacy-service-account-token-tracking',
  'node-lifecycle-controller',
  'server-identity',
  'taint-eviction-controller',
];

const adminName = 'logical-cluster-admin';

/** Constructs the components of a cluster, reads its objects, writes missing initial ones, and starts its reconcilers. */
export async function wakeCluster(identity: ClusterIdentity, root: RootServer): Promise<WokenCluster> {
  const undo = new UndoSteps();
  try {
    return await wake(identity, root, undo);
  } catch (error) {
    await undo.run(() => undefined);
    throw error;
  }
}

async function wake(identity: ClusterIdentity, root: RootServer, undo: UndoSteps): Promise<WokenCluster> {
  const { config: rootConfig, clock, rng, logger: rootLogger, store: rootStore } = root.components;
  const config = clusterConfig(rootConfig, identity);
  const prefix = clusterPrefix(rootConfig.storage.etcd.prefix, identity.uid);
  const logger = labelled(rootLogger, identity.name);
  const store = new ClusterStore(rootStore, prefix);
  undo.add(() => store.close());
  const keys = await clusterTokenKeys(store, prefix);
  const components = makeComponents({
    ...{ config, clock, rng, logger, store },
    // Users have the tokens that the cluster issues: certificates, files, issuers and proxies name users of the root.
    certificates: undefined,
    tokens: undefined,
    tokenKeys: async () => keys,
    authorization: rolesOnly,
    audit: root.components.audit,
    // Requests of a cluster reach no other server with an address that its users choose.
    permitsForwarding: () => false,
  });
  const { feed, phase, watches } = components;
  undo.add(() => components.aggregation.versions.close());
  undo.add(() => components.aggregation.upstreams.close());
  undo.add(() => {
    components.upstreams.proxied.close();
    components.upstreams.kubelets.close();
  });
  undo.add(() => feed.close());
  undo.add(serveBuiltInGroups(components));
  undo.add(() => watches.endAll(clock));
  undo.add(() => components.manifests.close());
  await components.manifests.load();
  await feed.start();
  const boot = new Boot({
    stages: logicalClusterStages(components, root),
    clock,
    logger,
    done: () => (phase.isBootstrapped = true),
  });
  undo.add(() => boot.stop());
  await boot.start();
  await startReconcilers(components, root, undo);
  return {
    handlers: handlersOf(components, root.components),
    watches,
    issueAdminToken: (seconds) => issueAdminToken(components, seconds),
    close: () => undo.run((error) => logger.debug('a step of putting the cluster to sleep failed', { error })),
  };
}

const rolesOnly: AuthorizationSource = {
  authorizers: { current: () => [{ type: 'RBAC', name: 'rbac' }], onChange: () => () => undefined },
  meters: {
    webhooks: new WebhookMetrics(),
    authorizationWebhooks: new AuthorizationWebhookMetrics(),
    reloads: undefined,
  },
  allowsEverything: false,
};

async function startReconcilers(components: ServerComponents, { rootCa, port }: RootServer, undo: UndoSteps) {
  const noTrust = { clientCaPem: '', requestHeader: undefined };
  const runner = new ReconcilerRunner(
    {
      ...components,
      server: {
        hostName: hostname(),
        ...{ port, rootCa },
        clientTrust: { current: () => noTrust, onChange: () => () => undefined },
        issuer: () => undefined,
      },
      upstream: noUpstream,
      storeIsShared: false,
      measure: components.workQueueMetrics.measure,
    },
    builtInReconcilers.filter(({ name }) => !notInClusters.includes(name)),
  );
  undo.add(() => runner.stop());
  await runner.start();
}

function handlersOf(components: ServerComponents, root: ServerComponents): ClusterHandlers {
  const authenticator = new ClusterAuthenticator(components.authenticator, root.authenticator);
  return {
    guards: requestGuards({ ...components, authenticator }),
    negotiation: requestNegotiation(components),
    health: new HealthRequests(components.health),
    discovery: components.discovery,
    openApi: components.openApi,
    openId: components.openId,
    resources: components.requests,
  };
}

/** Issues a token of a service account with the role cluster-admin, which exists from the first such token on. */
async function issueAdminToken({ registry, config, accountTokens, clock, rng }: ServerComponents, wanted: number) {
  const namespace = config.naming.systemNamespace('system');
  const { group, version } = rbacVersion(config.naming);
  const metadata = { name: adminName, namespace };
  await ensureObject(registry, {
    resource: 'serviceaccounts',
    object: { kind: 'ServiceAccount', apiVersion: 'v1', metadata },
    keeps: [],
  });
  await ensureObject(registry, {
    ...{ group, version, resource: 'clusterrolebindings' },
    object: {
      kind: 'ClusterRoleBinding',
      apiVersion: `${group}/${version}`,
      metadata: { name: adminName },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: adminName, namespace }],
    },
    keeps: [],
  });
  const { store } = registry.require('', 'v1', 'serviceaccounts');
  const { uid } = (await store.get(namespace, adminName)).attributes;
  if (uid === undefined) throw ApiError.internal(`service account ${namespace}/${adminName} has no uid`);
  const { lifeSecondsMax } = accountTokens.limits;
  const seconds = lifeSecondsMax > 0 ? Math.min(wanted, lifeSecondsMax) : wanted;
  const nowSeconds = Math.floor(clock.now() / 1000);
  const life = { id: rng.uuid(), audiences: config.authentication.apiAudiences, nowSeconds, seconds };
  const token = await accountTokens.issue({ namespace, account: { name: adminName, uid } }, life);
  return { token, expiresAtMs: (nowSeconds + seconds) * 1000 };
}

/** Returns a logger whose lines name the cluster. */
function labelled(logger: Logger, cluster: string): Logger {
  const line =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      logger[level](message, { ...fields, cluster });
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}

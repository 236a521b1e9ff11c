import { Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { GroupModule } from '../../app.module.js';
import { kubeconfig } from '../../certificates/kubeconfig.js';
import type { WatchStreams } from '../../endpoints/watch-stream.js';
import { ApiErrorFilter } from '../../filters/api-error.filter.js';
import { clusterRemoval } from '../../logical-clusters/cluster-removal.reconciler.js';
import { clustersVersion, logicalClusters } from '../../logical-clusters/logical-cluster.resources.js';
import { LogicalClustersGroup } from '../../logical-clusters/logical-clusters.group.js';
import { LogicalClusters } from '../../logical-clusters/logical-clusters.js';
import type { ReconcilerDefinition } from '../../reconcilers/reconciler.js';
import { groupModule } from '../../registry/apis/group.module.js';
import { ApiError } from '../../machinery/api-error.js';
import type { ServerComponents } from '../components.js';
import { makePortlessAdapter, type Diversion } from '../http-server.js';
import { nestLogger } from '../logging.js';
import { requestGuards } from '../request-guards.js';
import type { UndoSteps } from '../undo-steps.js';
import { ClusterPipelineModule } from './cluster-pipeline.module.js';
import { ClusterRequests } from './cluster-requests.js';
import { WakingCredentials } from './waking-credentials.js';
import { wakeCluster, type RootServer, type WokenCluster } from './wake-cluster.js';

type Watches = Pick<WatchStreams, 'endAll'>;

/** Parts that --logical-clusters adds to a server. */
export interface OpenedClusters {
  readonly clusters: LogicalClusters<WokenCluster>;
  /** Serves LogicalClusters in the root. */
  readonly group: GroupModule;
  readonly reconciler: ReconcilerDefinition;
  readonly divert: Diversion;
  /** Returns the watches of the root and of the clusters in memory, to end them when the server stops. */
  withWatches(ofRoot: Watches): Watches;
  /** Called when the server listens: from then on clusters are served. `url` is that of the root. */
  begin(root: RootServer, url: string): void;
}

/** Creates the application that serves all logical clusters of the server. */
export async function openLogicalClusters(components: ServerComponents, undo: UndoSteps): Promise<OpenedClusters> {
  const { config, clock, logger, store, authenticator } = components;
  let begun: { readonly root: RootServer; readonly url: string } | undefined;
  const beginning = () => {
    if (!begun) throw ApiError.unavailable('the server is starting');
    return begun;
  };
  const { group, version } = clustersVersion;
  const clusters = new LogicalClusters<WokenCluster>({
    objects: () => {
      const served = components.registry.find(group, version, logicalClusters.plural);
      return served?.type === 'stored' ? served.store : undefined;
    },
    wake: async (identity) => wakeCluster(identity, beginning().root),
    ...config.logicalClusters,
    clock,
    logger,
  });
  const { adapter, serve } = makePortlessAdapter(config, components);
  const requests = new ClusterRequests({
    clusters,
    waking: new WakingCredentials({ rootAuthenticator: authenticator, store, config }),
    serve,
  });
  const pipeline = ClusterPipelineModule.for({
    handlersOf: (request) => requests.clusterOf(request).handlers,
    guardCount: requestGuards({ ...components, tracing: undefined }).length,
    version: components.version,
    filter: new ApiErrorFilter(logger, components.encodings),
  });
  const app = await NestFactory.create<NestFastifyApplication>(ClustersModule.for(pipeline), adapter, {
    bodyParser: false,
    abortOnError: false,
    logger: nestLogger(logger),
  });
  undo.add(() => app.close());
  await app.init();
  await adapter.getInstance().ready();
  undo.add(() => clusters.close());
  const kubeconfigOf = (name: string, token: string) =>
    kubeconfig({
      server: `${beginning().url}/clusters/${name}`,
      certificateAuthority: beginning().root.rootCa.current(),
      user: { token },
      name,
    });
  return {
    clusters,
    group: groupModule(
      LogicalClustersGroup,
      () => new LogicalClustersGroup({ clusters, kubeconfig: kubeconfigOf, clock }),
    ),
    reconciler: clusterRemoval({ clusters, store, etcdPrefix: config.storage.etcd.prefix }),
    divert: (request, response, serveByRoot) => requests.divert(request, response, serveByRoot),
    withWatches: (ofRoot) => ({
      async endAll(...args) {
        const awake = clusters.awake().map(({ watches }) => watches);
        await Promise.all([ofRoot, ...awake].map((watches) => watches.endAll(...args)));
      },
    }),
    begin: (root, url) => (begun = { root, url }),
  };
}

/** The root module of that application. */
@Module({})
class ClustersModule {
  static for(pipeline: DynamicModule): DynamicModule {
    return { module: ClustersModule, imports: [pipeline] };
  }
}

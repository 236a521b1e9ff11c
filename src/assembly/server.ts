import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import type { Server as TlsServer } from 'node:tls';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AdmissionPluginDefinition } from '../admission/admission-plugin.js';
import { AppModule, type GroupModule } from '../app.module.js';
import type { AuthenticatorDefinition } from '../auth/authenticator-definition.js';
import { checkPeriodically } from '../cache/checker.js';
import { CertificateError } from '../certificates/certificate-error.js';
import { ensurePki, StoredPki, type Pki } from '../certificates/pki.js';
import type { LiveRootCa } from '../certificates/root-ca.js';
import type { Encoding } from '../codec/encoding.js';
import { FlagError } from '../config/flag-error.js';
import { processCount } from '../config/process-count.js';
import type { ServerConfig } from '../config/server-config.js';
import type { Connections } from '../connections/connections.js';
import { firstAddressOf } from '../machinery/ip-range.js';
import type { ReconcilerDefinition } from '../reconcilers/reconciler.js';
import { systemClock, type Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { systemRng, type Rng } from '../std/rng.js';
import { sharedAbort } from '../std/shared-abort.js';
import type { BackendDefinition } from '../storage/backend-definition.js';
import { backendNamed } from '../storage/backends.js';
import { CompactionLoop } from '../storage/compaction/compaction-loop.js';
import type { KvStore } from '../storage/kv-store.js';
import { StorageError } from '../storage/storage-error.js';
import type { ServerProcess } from '../workers/server-processes.js';
import { openAuthorization } from './authorization-source.js';
import { openAudit } from './audit.js';
import { openEncryption } from './encryption.js';
import { makeComponents, type ModuleContext, type ServerComponents } from './components.js';
import { makeHttpServer } from './http-server.js';
import { credentialSources } from './credential-sources.js';
import { openKubeletTls } from './kubelets.js';
import { openFaults } from './faults.js';
import type { OpenedClusters } from './logical-clusters/open-logical-clusters.js';
import { makeLogger, nestLogger } from './logging.js';
import { tightenOwnPaths } from './own-paths.js';
import { registerProcessHooks } from './process-hooks.js';
import { startControl } from './start-control.js';
import { stopProcess } from './stop-serving.js';
import { liveRootCa, openTls, type ServerTls } from './tls.js';
import { startTracing } from './tracing.js';
import { UndoSteps } from './undo-steps.js';
import { startWorkerControl } from './worker-control.js';

export interface StartOptions {
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly rng?: Rng;
  /** Storage backends beyond the built-in ones. `--storage-backend` accepts their names if loaded with the same option. */
  readonly storageBackends?: readonly BackendDefinition[];
  /** Replaces the configured store. The caller closes it. */
  readonly store?: KvStore;
  /** API groups beyond the built-in ones, each a Nest module. */
  readonly modules?: (context: ModuleContext) => readonly GroupModule[];
  /** The API groups that clients see: those of `modules`, in an aggregated API server. All by default. */
  readonly servedGroups?: readonly string[];
  /** Authenticators beyond the built-in ones. They are asked last, before anonymous access. */
  readonly authenticators?: readonly AuthenticatorDefinition[];
  /**
   * Admission plug-ins beyond the built-in ones. They run in this order, before ResourceQuota. Flags accept their names if
   * the configuration was loaded with them: `defaultConfig({}, { admissionPlugins })`.
   */
  readonly admissionPlugins?: readonly AdmissionPluginDefinition[];
  /** Encodings of objects beyond the built-in ones, for requests and answers of their media types. */
  readonly encodings?: readonly Encoding[];
  /** Reconcilers beyond the built-in ones. `--controllers` accepts their names under the same condition. */
  readonly reconcilers?: readonly ReconcilerDefinition[];
  /** False: no reconcilers run, so that only requests change objects. */
  readonly reconciles?: boolean;
}

/** The options of startServer(), with those that only this repository uses. */
interface OpenStartOptions extends StartOptions {
  /** Replaces the certificates and keys of the data directory. The caller closes it. */
  readonly pki?: Pki;
  /** Set in a server of several processes. */
  readonly process?: ServerProcess;
}

export interface RunningServer {
  readonly url: string;
  readonly app: NestFastifyApplication;
  /** Closes the server; resolves when all that it started has ended. */
  close(): Promise<void>;
}

/** A running server with its components, for tests of this repository. */
export interface OpenServer extends RunningServer {
  readonly components: ServerComponents;
  readonly connections: Connections;
  readonly pki: Pki;
  /** The store as it was opened: with encryption at rest, its values are encrypted. */
  readonly store: KvStore;
  /** True if other servers may use the store. */
  readonly storeIsShared: boolean;
  readonly port: number;
}

type Options = OpenStartOptions & { readonly clock: Clock; readonly rng: Rng; readonly logger: Logger };

/** Assembles and starts a server; resolves when it is ready. If a step fails, the completed ones are undone. */
export async function startOpenServer(config: ServerConfig, options: OpenStartOptions = {}): Promise<OpenServer> {
  const logger = options.logger ?? makeLogger(config.log);
  const { clock = systemClock, rng = systemRng } = options;
  const undo = new UndoSteps();
  try {
    return await assemble(config, { ...options, clock, rng, logger }, undo);
  } catch (error) {
    // A failing undo step must neither hide the cause of the failed start nor skip the other steps.
    await undo.run((reason) => logger.debug('undoing a step of the failed start failed too', { error: reason }));
    throw error;
  }
}

async function assemble(config: ServerConfig, options: Options, undo: UndoSteps): Promise<OpenServer> {
  const { rng, logger, process: ownProcess } = options;
  if (processCount(config) > 1 && !ownProcess) {
    throw new FlagError('workers', ['only the program starts several processes; start it, or set workers to 1']);
  }
  const worker = ownProcess?.worker;
  const { injector: faults, clock } = await openFaults(config, options);
  const backend = backendNamed(config.storage.backend, options.storageBackends);
  const encryption = worker ? undefined : await openEncryption(config, { clock, rng, logger, undo });
  // Undone last, when all requests have ended.
  const tracing = await startTracing(config, { clock, rng, logger, undo });
  const { store, pki } = await openStoreAndPki(config, backend, options, undo);
  const tls = await openTls(config, pki, { clock, logger, undo });
  const authorization = await openAuthorization(config, { rng, clock, logger, undo, injectCall: faults?.injectCall });
  const audit = await openAudit(config, { rng, clock, logger, undo, workerSink: worker?.auditSink });
  const { allowsEverything } = authorization;
  const identities = await credentialSources(config, { pki, tls, allowsEverything, clock, logger, undo });
  const kubeletTls = await openKubeletTls(config, { clock, logger, undo });
  const components = makeComponents({
    ...identities,
    kubeletTls,
    authorization,
    audit,
    encryption,
    tracing,
    faults,
    store,
    proxyClient: tls.proxyClient,
    rng,
    logger,
    authenticators: options.authenticators,
    servedGroups: options.servedGroups,
    admissionPlugins: options.admissionPlugins,
    ownEncodings: options.encodings,
    process: ownProcess,
  });
  undo.add(() => components.aggregation.versions.close());
  undo.add(() => components.aggregation.upstreams.close());
  undo.add(() => components.feed.close());
  undo.add(() => {
    components.upstreams.proxied.close();
    components.upstreams.kubelets.close();
  });
  encryption?.onKeysChanged(() => recoverUnreadable(components));
  const clusters = config.logicalClusters.enabled ? await openClusters(components, undo) : undefined;
  const { app, connections } = await makeApp(components, tls, { ...options, clusters }, undo);
  await loadManifests(components, undo);
  const port = await listen(app, components, ownProcess);
  const rootCa = await liveRootCa(config, pki, tls, { clock, logger, undo });
  const { reconciles = true } = options;
  const reconcilers = [...(options.reconcilers ?? []), ...(clusters ? [clusters.reconciler] : [])];
  const storeIsShared = backend.isShared;
  if (worker) await startWorkerControl(components, { pki, tls, rootCa, port, worker }, undo);
  else await startControl(components, { pki, tls, rootCa, port, reconciles, reconcilers, storeIsShared }, undo);
  undo.add(startLoops(components, store, worker ? 'store' : backend.compactedBy));
  const adjusting = components.flowControl?.startAdjusting();
  if (adjusting) undo.add(() => adjusting.cancel());
  const url = urlOf(config, port);
  clusters?.begin({ components, rootCa, port }, url);
  await writeKubeconfig(components, { url, pki, rootCa }, undo);
  let closing: Promise<void> | undefined;
  const close = () => {
    // A failed start only closes the connections; a server that is closed answers running requests first.
    const watches = clusters ? clusters.withWatches(components.watches) : components.watches;
    undo.add(() => stopProcess(config, { ...components, watches }, { connections, ownProcess }));
    return undo.run();
  };
  return { url, app, components, connections, pki, store, storeIsShared, port, close: () => (closing ??= close()) };
}

/** Most servers have no logical clusters and do not load them. */
async function openClusters(components: ServerComponents, undo: UndoSteps): Promise<OpenedClusters> {
  const { openLogicalClusters } = await import('./logical-clusters/open-logical-clusters.js');
  return openLogicalClusters(components, undo);
}

/** Reads objects again that could not be decrypted, after keys were added or a KMS plug-in answers again. */
function recoverUnreadable({ feed, logger }: ServerComponents): void {
  feed.recoverUnreadable().catch((error: unknown) => {
    logger.warn('could not read objects again that could not be decrypted; restart the server to read them', { error });
  });
}

async function openStoreAndPki(config: ServerConfig, backend: BackendDefinition, options: Options, undo: UndoSteps) {
  if (!options.pki) await tightenOwnPaths(config, options.logger);
  const opening = [
    Promise.resolve(options.store ?? backend.open({ ...options, config, isReadOnly: false })),
    Promise.resolve(options.pki ?? ensurePki(pkiOptions(config, options))),
  ] as const;
  // If one of them fails to open, the other may be open and has to be closed.
  const [openedStore, openedPki] = await Promise.allSettled(opening);
  if (!options.store && openedStore.status === 'fulfilled') undo.add(() => openedStore.value.close());
  if (!options.pki && openedPki.status === 'fulfilled') undo.add(() => openedPki.value.close());
  const [store, pki] = await Promise.all(opening);
  return { store, pki };
}

function pkiOptions({ serving, network, storage, kubeconfigOut }: ServerConfig, { clock, logger }: Options) {
  return {
    directory: storage.dataDirectory,
    certificateDirectory: serving.certDirectory,
    kubeconfigFile: kubeconfigOut,
    isServingPairGiven: serving.tlsCertFile !== undefined,
    serviceAddress: firstAddressOf(network.serviceClusterIpRanges[0]!),
    hostNames: [hostname()],
    addresses: [serving.advertiseAddress],
    clock,
    logger,
  };
}

async function makeApp(
  components: ServerComponents,
  tls: ServerTls,
  { modules, logger, process: ownProcess, clusters }: Options & { readonly clusters: OpenedClusters | undefined },
  undo: UndoSteps,
): Promise<{ readonly app: NestFastifyApplication; readonly connections: Connections }> {
  const { adapter, connections } = makeHttpServer(components.config, tls, components, clusters?.divert);
  if (ownProcess) registerProcessHooks(adapter.getInstance(), ownProcess, components);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.for(components, [...(modules?.(components) ?? []), ...(clusters ? [clusters.group] : [])]),
    adapter,
    { bodyParser: false, abortOnError: false, logger: nestLogger(logger) },
  );
  undo.add(() => app.close());
  await app.init();
  undo.add(() => connections.drain(0));
  undo.add(tls.material.onChange((context) => (app.getHttpServer() as unknown as TlsServer).setSecureContext(context)));
  return { app, connections };
}

/** Puts manifests of admission in force, before the first request. Rejects with a FlagError. */
async function loadManifests({ config, manifests }: ServerComponents, undo: UndoSteps): Promise<void> {
  undo.add(() => manifests.close());
  try {
    await manifests.load();
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    throw new FlagError('admission-control-config-file', [error.message], config.admission.controlConfigFile);
  }
}

/** Opens the port, and fills the caches meanwhile. Returns the port. */
async function listen(
  app: NestFastifyApplication,
  components: ServerComponents,
  ownProcess: ServerProcess | undefined,
): Promise<number> {
  const { serving } = components.config;
  const loaded = loadInTime(components);
  const server = app.getHttpServer() as unknown as TlsServer;
  let port: number;
  if (ownProcess) {
    await app.getHttpAdapter().getInstance().ready();
    port = await ownProcess.port.listen(server, serving.securePort, serving.bindAddress);
  } else {
    await app.listen(serving.securePort, serving.bindAddress);
    ({ port } = server.address() as AddressInfo);
  }
  components.phase.address = `${serving.externalHostname ?? serving.advertiseAddress}:${port}`;
  await loaded;
  return port;
}

/** Fills the caches. Rejects after --storage-initialization-timeout. */
function loadInTime({ config, feed, clock }: ServerComponents): Promise<void> {
  const { initializationTimeoutMs: timeoutMs } = config.storage;
  const patience = sharedAbort();
  const timer = clock.after(timeoutMs, () =>
    patience.abort(new StorageError('unavailable', `the store could not be read in ${timeoutMs / 1000} s`)),
  );
  const loaded = feed
    .start(patience.signal)
    .catch((error: unknown) => {
      throw patience.signal.aborted ? patience.signal.reason : error;
    })
    .finally(() => timer.cancel());
  // The caller awaits it only once the port is open; without a handler, an earlier rejection would end the process.
  loaded.catch(() => undefined);
  return loaded;
}

/** Starts compaction of a store that does not compact itself, and the comparison of the caches with the store. Returns a function that stops both. */
function startLoops(
  { config, feed, store, clock, logger }: ServerComponents,
  opened: KvStore,
  compactedBy: BackendDefinition['compactedBy'],
): () => void {
  const { etcd, cacheCheckIntervalMs: intervalMs } = config.storage;
  const compaction =
    compactedBy === 'server'
      ? new CompactionLoop({ store: opened, clock, logger, intervalMs: etcd.compactionIntervalMs })
      : undefined;
  compaction?.start();
  const cacheCheck = checkPeriodically({ feed, store, clock, logger, intervalMs });
  return () => {
    compaction?.stop();
    cacheCheck.stop();
  };
}

function urlOf({ serving: { bindAddress } }: ServerConfig, port: number): string {
  const host = bindAddress === '0.0.0.0' || bindAddress === '::' ? '127.0.0.1' : bindAddress;
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Writes the administrator's kubeconfig, and writes it again whenever the CA of the serving certificate changes. */
async function writeKubeconfig(
  { config: { kubeconfigOut }, logger }: ServerComponents,
  { url, pki, rootCa }: { readonly url: string; readonly pki: Pki; readonly rootCa: LiveRootCa },
  undo: UndoSteps,
): Promise<void> {
  if (!(pki instanceof StoredPki) || kubeconfigOut === undefined) return;
  const save = () => pki.saveAdminKubeconfig(url, () => rootCa.current());
  await save();
  const failed = (error: unknown) =>
    logger.error('the kubeconfig could not be rewritten after a change of the root CA; restart to write it', {
      file: kubeconfigOut,
      error,
    });
  undo.add(rootCa.onChange(() => void save().catch(failed)));
}

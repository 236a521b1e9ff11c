import 'reflect-metadata';
import { readFile } from 'node:fs/promises';
import type { Server as TlsServer } from 'node:tls';
import { hostname } from 'node:os';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { makeTokenKeys, type TokenKeys } from '../auth/token-keys.js';
import { checkPeriodically } from '../cache/checker.js';
import { makeParts, type AppParts } from './components.js';
import { AppModule, type GroupModule } from '../app.module.js';
import { ClientCertificates } from '../certificates/client-certificates.js';
import type { CaBundle } from '../certificates/ca-bundle.js';
import type { Live } from '../certificates/live.js';
import { ensurePki, StoredPki, type Pki } from '../certificates/pki.js';
import { LiveRootCa } from '../certificates/root-ca.js';
import { SniContexts } from '../certificates/sni-contexts.js';
import { liveCaBundle, liveServingPair, TlsMaterial } from '../certificates/tls-material.js';
import type { ServerConfig } from '../config/server-config.js';
import type { Connections } from '../connections/connections.js';
import { reconcilerChecks } from '../endpoints/health-standard-checks.js';
import { makeHttpServer } from './http-server.js';
import { makeLogger, nestLogger } from './logging.js';
import { firstAddressOf } from '../machinery/ip-range.js';
import { allAuthenticated, type UserInfo } from '../machinery/user-info.js';
import { Boot } from '../reconcilers/boot/boot.js';
import { bootStages } from '../reconcilers/boot/boot-objects.js';
import type { ClientTrust } from '../reconcilers/boot/client-trust.js';
import { ReconcilerRunner } from '../reconcilers/reconciler-runner.js';
import { ownReconcilers, reconcilers } from '../reconcilers/reconcilers.js';
import { serviceAllocation } from '../reconcilers/service-allocation/service-allocation.reconciler.js';
import { UpstreamPresence } from '../reconcilers/upstream-presence.js';
import { sleep, systemClock, type Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { systemRng, type Rng } from '../std/rng.js';
import { sharedAbort } from '../std/shared-abort.js';
import { openStore } from './open-store.js';
import { tightenOwnPaths } from './own-paths.js';
import { CompactionLoop } from '../storage/compaction/compaction-loop.js';
import type { KvStore } from '../storage/kv-store.js';
import { StorageError } from '../storage/storage-error.js';

export interface StartOptions {
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly rng?: Rng;
  /** Replaces the configured store. The caller closes it. */
  readonly store?: KvStore;
  /** Replaces the certificates and keys of the data directory. The caller closes it. */
  readonly pki?: Pki;
  /** API groups beyond the built-in ones, each a Nest module. */
  readonly modules?: (parts: AppParts) => readonly GroupModule[];
  /** False: no reconcilers run, so that only requests change objects. */
  readonly reconciles?: boolean;
}

export interface RunningServer {
  readonly url: string;
  readonly app: NestFastifyApplication;
  readonly parts: AppParts;
  readonly pki: Pki;
  close(): Promise<void>;
}

/** Assembles and starts a server; resolves when it is ready. If a step fails, the completed ones are undone. */
export async function startServer(config: ServerConfig, options: StartOptions = {}): Promise<RunningServer> {
  const clock = options.clock ?? systemClock;
  const rng = options.rng ?? systemRng;
  const logger = options.logger ?? makeLogger(config.log);
  const undo: (() => Promise<void> | void)[] = [];
  try {
    return await assemble(config, { ...options, clock, rng, logger }, undo);
  } catch (error) {
    // A failing undo step must neither hide the cause of the failed start nor skip the other steps.
    for (const step of undo.reverse()) {
      try {
        await step();
      } catch (reason) {
        logger.debug('undoing a step of the failed start failed too', { error: reason });
      }
    }
    throw error;
  }
}

async function assemble(
  config: ServerConfig,
  options: StartOptions & { clock: Clock; rng: Rng; logger: Logger },
  undo: (() => Promise<void> | void)[],
): Promise<RunningServer> {
  const { clock, rng, logger } = options;
  if (!options.pki) await tightenOwnPaths(config, logger);
  const opening = [
    Promise.resolve(options.store ?? openStore(config, { clock, rng, logger })),
    Promise.resolve(options.pki ?? ensurePki(pkiOptions(config, clock, logger))),
  ] as const;
  // If one of them fails to open, the other may be open and has to be closed.
  const [openedStore, openedPki] = await Promise.allSettled(opening);
  if (!options.store && openedStore.status === 'fulfilled') undo.push(() => openedStore.value.close());
  if (!options.pki && openedPki.status === 'fulfilled') undo.push(() => openedPki.value.close());
  const [store, pki] = await Promise.all(opening);

  const proxyCa = await proxyAuthority(config, clock, logger, undo);
  const tls = await tlsMaterial(config, { pki, proxyCa }, clock, logger, undo);
  const sni = await sniContexts(config, tls, clock, logger, undo);
  const clientCertificates = new ClientCertificates(() => tls.clientCaBundle(), config.naming.labelDomain);
  const proxies = proxyCa && new ClientCertificates(() => proxyCa.current(), config.naming.labelDomain);
  const tokenFile = config.authentication.tokenAuthFile;
  const parts = makeParts({
    config,
    store,
    clock,
    rng,
    logger,
    tokens: tokenFile === undefined ? undefined : await readFile(tokenFile, 'utf8'),
    tokenKeys: await tokenKeysOf(config, pki),
    certificates: {
      of(socket) {
        const verdict = clientCertificates.verdictOf(socket, clock.now());
        return verdict && 'identity' in verdict ? { user: certificateUser(verdict.identity) } : verdict;
      },
    },
    proxies: proxies && {
      of(socket) {
        const verdict = proxies.verdictOf(socket, clock.now());
        return verdict && 'identity' in verdict ? verdict.identity.name : undefined;
      },
    },
  });
  undo.push(() => parts.feed.close());

  const { adapter, connections } = makeHttpServer(config, { material: tls, sni }, parts);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.for(parts, options.modules?.(parts)),
    adapter,
    {
      bodyParser: false,
      abortOnError: false,
      logger: nestLogger(logger),
    },
  );
  undo.push(() => app.close());
  await app.init();
  undo.push(() => connections.drain(0));
  undo.push(tls.onChange((context) => (app.getHttpServer() as unknown as TlsServer).setSecureContext(context)));

  const { bindAddress, securePort } = config.serving;
  const started = loadInTime(config, parts, clock);
  await app.listen(securePort, bindAddress);
  const { port } = app.getHttpServer().address() as { port: number };
  parts.phase.address = `${config.serving.externalHostname ?? config.serving.advertiseAddress}:${port}`;
  await started;
  const rootCa = await liveRootCa(config, { pki, tls }, clock, logger, undo);
  const clientTrust = clientTrustOf(config, tls, proxyCa);
  const upstream = upstreamPresence(parts);
  undo.push(() => upstream.stop());
  const boot = new Boot({
    stages: bootStages(parts, { rootCa, clientTrust, upstream, port }),
    clock,
    logger,
    done: () => (parts.phase.isBootstrapped = true),
  });
  undo.push(() => boot.stop());
  await boot.start();
  if (options.reconciles !== false) {
    const runner = new ReconcilerRunner(
      {
        ...parts,
        server: {
          hostName: hostname(),
          port,
          rootCa,
          clientTrust,
          issuer: () => pki.issuer(),
        },
        upstream,
        measure: parts.workQueueMetrics.measure,
      },
      { once: reconcilers, everywhere: [...ownReconcilers, serviceAllocation(parts.serviceAllocation)] },
    );
    undo.push(() => runner.stop());
    parts.health.add(...reconcilerChecks((name) => parts.phase.reconcilers.has(name)));
    await runner.start();
  }
  const compaction =
    config.storage.backend === 'etcd3'
      ? new CompactionLoop({ store, clock, logger, intervalMs: config.storage.etcd.compactionIntervalMs })
      : undefined;
  compaction?.start();
  const { cacheCheckIntervalMs: intervalMs } = config.storage;
  const cacheCheck = checkPeriodically({ feed: parts.feed, store: parts.store, clock, logger, intervalMs });

  const host = bindAddress === '0.0.0.0' || bindAddress === '::' ? '127.0.0.1' : bindAddress;
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (pki instanceof StoredPki && config.kubeconfigOut !== undefined) {
    const save = () => pki.saveAdminKubeconfig(url, () => rootCa.current());
    await save();
    const failed = (error: unknown) =>
      logger.error('the kubeconfig could not be rewritten after a change of the root CA; restart to write it', {
        file: config.kubeconfigOut,
        error,
      });
    undo.push(rootCa.onChange(() => void save().catch(failed)));
  }

  let closing: Promise<void> | undefined;
  const close = async () => {
    await stopServing(config, parts, connections);
    compaction?.stop();
    cacheCheck.stop();
    for (const step of undo.reverse()) await step();
  };
  return { url, app, parts, pki, close: () => (closing ??= close()) };
}

/**
 * Stops as kube-apiserver does. During --shutdown-delay-duration all requests are served, on new connections too, while
 * /readyz fails so that load balancers stop sending. Then the port is closed at once: another server can listen on it,
 * and reconnecting clients reach that server.
 */
async function stopServing(config: ServerConfig, { phase, watches, clock }: AppParts, connections: Connections) {
  phase.isStopping = true;
  if (config.shutdownDelayMs > 0) await sleep(clock, config.shutdownDelayMs);
  const { shutdownGraceMs } = config.limits;
  // With --shutdown-send-retry-after the server listens, and refuses with 429, until running requests have ended.
  if (config.shutdownSendsRetryAfter) {
    phase.isRefusing = true;
    await Promise.all([connections.quiet(shutdownGraceMs), watches.endAll(clock, config.shutdownWatchGraceMs)]);
    return connections.drain(0);
  }
  connections.stopListening();
  const ending = watches.endAll(clock, config.shutdownWatchGraceMs);
  await connections.drain(Math.max(shutdownGraceMs, config.shutdownWatchGraceMs));
  await ending;
}

/**
 * Returns the keys of service account tokens. Configured files are read now, so that an invalid one fails the start;
 * the server's own key may still be pending.
 */
async function tokenKeysOf({ authentication }: ServerConfig, pki: Pki): Promise<() => Promise<TokenKeys>> {
  const { signingKeyFile, keyFiles } = authentication.serviceAccount;
  const others = await Promise.all(keyFiles.map((file) => readFile(file, 'utf8')));
  if (signingKeyFile !== undefined) {
    const keys = makeTokenKeys(await readFile(signingKeyFile, 'utf8'), others);
    return () => Promise.resolve(keys);
  }
  let made: Promise<TokenKeys> | undefined;
  return () => (made ??= pki.serviceAccountKey.then(({ privateKey }) => makeTokenKeys(privateKey, others)));
}

function pkiOptions(config: ServerConfig, clock: Clock, logger: Logger) {
  const { serving, network, storage } = config;
  return {
    directory: storage.dataDirectory,
    certificateDirectory: serving.certDirectory,
    kubeconfigFile: config.kubeconfigOut,
    isServingPairGiven: serving.tlsCertFile !== undefined,
    serviceAddress: firstAddressOf(network.serviceClusterIpRanges[0]!),
    hostNames: [hostname()],
    addresses: [serving.advertiseAddress],
    clock,
    logger,
  };
}

/** Fills the caches. Rejects after --storage-initialization-timeout. */
function loadInTime({ storage }: ServerConfig, { feed }: AppParts, clock: Clock): Promise<void> {
  const { initializationTimeoutMs: timeoutMs } = storage;
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

/** Loads --requestheader-client-ca-file, which verifies the certificates of front proxies. */
async function proxyAuthority(
  { authentication }: ServerConfig,
  clock: Clock,
  logger: Logger,
  undo: (() => Promise<void> | void)[],
) {
  const { clientCaFile } = authentication.requestHeader;
  if (clientCaFile === undefined) return undefined;
  const bundle = await liveCaBundle({ file: clientCaFile, clock, logger });
  undo.push(() => bundle.close());
  return bundle;
}

/** Returns the CA certificates that verify the serving certificate, for kubeconfigs and kube-root-ca.crt. */
async function liveRootCa(
  { reconcilers: { rootCaFile } }: ServerConfig,
  { pki, tls }: { readonly pki: Pki; readonly tls: TlsMaterial },
  clock: Clock,
  logger: Logger,
  undo: (() => Promise<void> | void)[],
): Promise<LiveRootCa> {
  const configured = rootCaFile === undefined ? undefined : await liveCaBundle({ file: rootCaFile, clock, logger });
  undo.push(() => configured?.close());
  return new LiveRootCa({
    servingPem: () => tls.current().cert,
    own: () => pki.authority.current(),
    known: () => tls.clientCaBundle()?.certificates ?? [],
    configured,
    onChange: (listener) => tls.onChange(listener),
    logger,
  });
}

function clientTrustOf(
  { authentication: { requestHeader } }: ServerConfig,
  tls: TlsMaterial,
  proxyCa: Live<CaBundle> | undefined,
): Live<ClientTrust> {
  const current = () => ({
    clientCaPem: tls.clientCaBundle()?.pem ?? '',
    requestHeader: proxyCa && { ...requestHeader, clientCaPem: proxyCa.current().pem },
  });
  return { current, onChange: (listener) => tls.onChange(() => listener(current())) };
}

function upstreamPresence({ registry, config: { naming }, clock, logger }: AppParts): UpstreamPresence {
  return new UpstreamPresence({
    leases: registry.require(naming.group('coordination'), 'v1', 'leases'),
    namespace: naming.systemNamespace('system'),
    name: naming.systemName('controller-manager'),
    clock,
    logger,
  });
}

async function sniContexts(
  { serving }: ServerConfig,
  material: TlsMaterial,
  clock: Clock,
  logger: Logger,
  undo: (() => Promise<void> | void)[],
): Promise<SniContexts> {
  const pairs = await Promise.all(
    serving.sniCertKeys.map(async ({ certFile, keyFile, names }) => ({
      names,
      pair: await liveServingPair({ certificateFile: certFile, keyFile, clock, logger }),
    })),
  );
  const contexts = new SniContexts(pairs, material);
  undo.push(() => {
    contexts.close();
    for (const { pair } of pairs) pair.close();
  });
  return contexts;
}

async function tlsMaterial(
  { serving }: ServerConfig,
  { pki, proxyCa }: { readonly pki: Pki; readonly proxyCa: Live<CaBundle> | undefined },
  clock: Clock,
  logger: Logger,
  undo: (() => Promise<void> | void)[],
): Promise<TlsMaterial> {
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile } = serving;
  const configured =
    tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined
      ? await liveServingPair({ certificateFile: tlsCertFile, keyFile: tlsPrivateKeyFile, clock, logger })
      : undefined;
  const clients = clientCaFile === undefined ? undefined : await liveCaBundle({ file: clientCaFile, clock, logger });
  const material = new TlsMaterial({
    serving: configured ?? pki.serving!,
    clientCas: [pki.authority, ...(clients ? [clients] : [])],
    proxyCas: proxyCa ? [proxyCa] : [],
    minVersion: serving.tlsMinVersion,
    cipherSuites: serving.tlsCipherSuites,
    logger,
  });
  undo.push(() => {
    material.close();
    configured?.close();
    clients?.close();
  });
  return material;
}

function certificateUser(identity: {
  name: string;
  uid?: string;
  groups: readonly string[];
  extra: UserInfo['extra'];
}): UserInfo {
  return {
    name: identity.name,
    uid: identity.uid ?? '',
    groups: [...identity.groups, allAuthenticated],
    extra: identity.extra,
  };
}

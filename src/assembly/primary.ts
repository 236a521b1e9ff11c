import { processCount } from '../config/process-count.js';
import type { ServerConfig } from '../config/server-config.js';
import type { Revision } from '../machinery/revision.js';
import type { HealthEndpoint } from '../endpoints/health-checks.js';
import { systemClock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { ServerMetrics } from '../metrics/server-metrics.js';
import { messageKinds as kinds } from '../workers/message-kinds.js';
import { hostAudit } from '../workers/remote-audit.js';
import { sharedCertificates } from '../workers/received-pki.js';
import { SharedPort } from '../workers/shared-port.js';
import { hostStore } from '../workers/store-host.js';
import { sumMetrics } from '../workers/sum-metrics.js';
import { Supervisor } from '../workers/supervisor.js';
import type { StartMessage } from '../workers/worker-messages.js';
import type { WorkerProcess } from '../workers/worker-process.js';
import { stderrDestination } from './log-destination.js';
import { startOpenServer, type OpenServer, type RunningServer } from './server.js';

/** Time beyond the periods of the shutdown after which a worker is killed. */
const stopReserveMs = 10_000;
/** A process that applies no events for so long delays no writes. */
const settleMsMax = 500;
/** A worker that does not answer in time is left out of the metrics. */
const metricsTimeoutMs = 2_000;

/**
 * Starts a server of several processes: this one, which has the store, runs the reconcilers and serves requests, and
 * workers, which serve requests. `program` is the file that a worker runs.
 */
export async function startProcesses(
  config: ServerConfig,
  { logger, program }: { readonly logger: Logger; readonly program: string },
): Promise<RunningServer> {
  const count = processCount(config);
  // Set once the server is open; until then there are no workers.
  const open: { processes?: Processes } = {};
  const port = new SharedPort({
    ownConnections: () => open.processes?.server.connections.open ?? 0,
    workers: () => open.processes?.supervisor.ready ?? [],
  });
  const server = await startOpenServer(config, {
    logger: withVerbosity(logger, (verbosity) => open.processes?.setVerbosity(verbosity)),
    process: {
      ...{ index: 0, count, port },
      workers: {
        settled: async (revision) => open.processes?.settled(revision),
        stop: async () => open.processes?.stop(),
      },
    },
  });
  open.processes = new Processes(config, server, { count, program, logger });
  open.processes.start();
  return server;
}

/** The workers of a server, and the calls between them and this process. */
class Processes {
  readonly supervisor: Supervisor;
  private verbosity: number | undefined;

  constructor(
    private readonly config: ServerConfig,
    readonly server: OpenServer,
    private readonly options: { readonly count: number; readonly program: string; readonly logger: Logger },
  ) {
    const { count, program, logger } = options;
    const log = stderrDestination();
    this.supervisor = new Supervisor({
      count: count - 1,
      program,
      startMessage: (index) => this.startMessage(index),
      attach: (worker) => this.attach(worker),
      print: (line) => log.write(`${line}\n`),
      clock: systemClock,
      logger,
    });
  }

  start(): void {
    const { metrics } = this.server.components;
    for (const page of [metrics.all, metrics.indicators]) page.combine = () => this.wholeMetrics(page);
    this.followCertificates();
    this.supervisor.start();
  }

  stop(): Promise<void> {
    const { shutdownDelayMs, shutdownWatchGraceMs, limits } = this.config;
    return this.supervisor.stop(
      shutdownDelayMs + Math.max(limits.shutdownGraceMs, shutdownWatchGraceMs) + stopReserveMs,
    );
  }

  /** Resolves when all processes have applied a revision, or one of them takes too long. */
  async settled(revision: Revision): Promise<void> {
    const { feed } = this.server.components;
    const applied = this.supervisor.ready.map(({ channel }) =>
      channel.call(kinds.applied, (frame) => frame.number(revision)),
    );
    const all = Promise.allSettled([feed.waitFor(revision, { timeoutMs: settleMsMax }), ...applied]);
    await inTime(
      all.then(() => ''),
      settleMsMax,
    );
  }

  /** Sets the verbosity of all processes, later ones too. */
  setVerbosity(verbosity: number): void {
    this.verbosity = verbosity;
    this.options.logger.setVerbosity?.(verbosity);
    for (const worker of this.supervisor.all) this.sendVerbosity(worker);
  }

  private sendVerbosity({ channel }: WorkerProcess): void {
    if (this.verbosity !== undefined) channel.send(kinds.setVerbosity, 0, (frame) => frame.uint(this.verbosity!));
  }

  private async startMessage(index: number): Promise<StartMessage> {
    const { pki, port, components } = this.server;
    return {
      type: 'start',
      index,
      count: this.options.count,
      port,
      config: this.config,
      certificates: sharedCertificates(pki),
      serviceAccountKey: await pki.serviceAccountKey.catch(() => undefined),
      serviceAccountKeyFile: pki.serviceAccountKeyFile?.path,
      reconcilers: [...components.phase.reconcilers],
    };
  }

  private attach(worker: WorkerProcess): void {
    const { channel } = worker;
    const { store, health, metrics, audit } = this.server.components;
    hostStore(store, channel);
    if (audit?.auditSink) hostAudit(audit.auditSink, channel);
    channel.answer(kinds.failedChecks, async (body) => {
      const { failed } = await health.run(body.text() as HealthEndpoint, []);
      return (frame) => frame.text(failed.join('\n'));
    });
    channel.answer(kinds.wholeMetrics, async (body) => {
      const text = await this.wholeMetrics(body.byte() === 1 ? metrics.all : metrics.indicators);
      return (frame) => frame.text(text);
    });
    channel.take(kinds.setVerbosityOfAll, (body) => this.setVerbosity(body.uint()));
    this.sendVerbosity(worker);
  }

  private async wholeMetrics(page: ServerMetrics): Promise<string> {
    const { all } = this.server.components.metrics;
    const ofWorkers = this.supervisor.ready.map(({ channel }) =>
      inTime(
        channel.call(kinds.ownMetrics, (frame) => frame.byte(page === all ? 1 : 0)).then((body) => body.text()),
        metricsTimeoutMs,
      ),
    );
    const pages = await Promise.all([page.ownText(), ...ofWorkers]);
    return sumMetrics(pages.filter((text) => text !== undefined));
  }

  private followCertificates(): void {
    const { pki } = this.server;
    const changed = () => {
      for (const worker of this.supervisor.all)
        worker.send({ type: 'certificates', certificates: sharedCertificates(pki) });
    };
    for (const value of [pki.authority, pki.serving, pki.admin, pki.frontProxy.authority, pki.frontProxy.client])
      value?.onChange(changed);
  }
}

/** Resolves with undefined if there is no answer in time. */
function inTime(answer: Promise<string>, timeoutMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const timer = systemClock.after(timeoutMs, () => resolve(undefined));
    answer.then(resolve, () => resolve(undefined)).finally(() => timer.cancel());
  });
}

/** Returns the logger with another function for changes of its verbosity. */
export function withVerbosity(logger: Logger, setVerbosity: (verbosity: number) => void): Logger {
  return { ...logger, ...(logger.setVerbosity && { setVerbosity }) };
}

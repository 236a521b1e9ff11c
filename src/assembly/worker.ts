import { Socket } from 'node:net';
import { NamingProfile } from '../config/naming-profile.js';
import type { ServerConfig } from '../config/server-config.js';
import type { Revision } from '../machinery/revision.js';
import { every, systemClock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { systemRng } from '../std/rng.js';
import { backendNamed } from '../storage/backends.js';
import type { ValueReader } from '../storage/kv-store.js';
import type { AuditSinkConfig } from '../config/audit-config.js';
import { Channel } from '../workers/channel.js';
import { messageKinds as kinds } from '../workers/message-kinds.js';
import { PassedConnections } from '../workers/passed-connections.js';
import { ReceivedPki } from '../workers/received-pki.js';
import { RemoteAuditSink } from '../workers/remote-audit.js';
import { RemoteStore } from '../workers/remote-store.js';
import type { StartMessage, WorkerMessage } from '../workers/worker-messages.js';
import { channelDescriptor } from '../workers/worker-process.js';
import { makeLogger } from './logging.js';
import { withVerbosity } from './primary.js';
import { startOpenServer, type OpenServer } from './server.js';

const reportIntervalMs = 500;
/** The process with the store waits no longer. */
const settleMsMax = 500;

/** Runs this process as a worker of the one that has started it. Ends with it. */
export async function runWorker(): Promise<void> {
  const channel = new Channel(new Socket({ fd: channelDescriptor }));
  // Without the process with the store there is nothing to serve, and nobody who would end this one.
  const end = () => process.exit(0);
  channel.onClose(end);
  process.on('disconnect', end);
  // A terminal and systemd send signals to all processes; the one with the store stops the workers.
  process.on('SIGTERM', () => undefined);
  process.on('SIGINT', () => undefined);
  const message = await new Promise<StartMessage>((resolve) =>
    process.once('message', (first: StartMessage) => resolve(first)),
  );
  await startWorker(message, channel);
}

async function startWorker(message: StartMessage, channel: Channel): Promise<void> {
  const { index, count } = message;
  const config = receivedConfig(message.config);
  const logger = makeLogger(config.log, undefined, { worker: index });
  const pki = new ReceivedPki(message, logger);
  const port = new PassedConnections(message.port, () =>
    channel.send(kinds.connectionsClosed, 0, (frame) => frame.uint(1)),
  );
  const server = await startOpenServer(config, {
    logger: withVerbosity(logger, (verbosity) =>
      channel.send(kinds.setVerbosityOfAll, 0, (frame) => frame.uint(verbosity)),
    ),
    store: new RemoteStore(channel, await openValues(config, logger)),
    pki,
    process: {
      ...{ index, count, port },
      worker: {
        auditSink: new RemoteAuditSink(channel, auditWaits(config)),
        reconcilers: message.reconcilers,
        failedChecks: async (endpoint) => {
          const names = (await channel.call(kinds.failedChecks, (frame) => frame.text(endpoint))).text();
          return names === '' ? [] : names.split('\n');
        },
      },
    },
  });
  answerCalls(server, logger, channel);
  const stop = async () => {
    await server.close();
    channel.close();
    process.exit(0);
  };
  process.on('message', (next: WorkerMessage, socket: unknown) => {
    if (next.type === 'connection') {
      channel.send(kinds.connectionTaken, 0);
      // A client may have closed it already.
      if (socket instanceof Socket) port.take(socket);
      else port.closed();
    } else if (next.type === 'certificates') pki.replace(next.certificates);
    else if (next.type === 'stop') void stop();
  });
  const report = () => {
    const { feed, phase } = server.components;
    channel.send(kinds.isReady, 0, (frame) => frame.byte(feed.synced && !phase.isStopping ? 1 : 0));
  };
  every(systemClock, reportIntervalMs, report);
  report();
}

/** Opens what this process reads values from. Without it, the values of all objects stay in memory, compressed if nobody reads them. */
async function openValues(config: ServerConfig, logger: Logger): Promise<ValueReader | undefined> {
  const backend = backendNamed(config.storage.backend);
  try {
    return await backend.openReader?.({ config, clock: systemClock, rng: systemRng, logger, isReadOnly: true });
  } catch (error) {
    logger.warn('this worker cannot read the file of the store and keeps all objects in memory; see the error', {
      error,
    });
    return undefined;
  }
}

function answerCalls({ components: { metrics, feed } }: OpenServer, logger: Logger, channel: Channel): void {
  const pages = [metrics.indicators, metrics.all] as const;
  channel.answer(kinds.ownMetrics, async (body) => {
    const text = await pages[body.byte() === 1 ? 1 : 0].ownText();
    return (frame) => frame.text(text);
  });
  for (const [number, page] of pages.entries()) {
    page.combine = async () => (await channel.call(kinds.wholeMetrics, (frame) => frame.byte(number))).text();
  }
  channel.answer(kinds.applied, async (body) => {
    await feed.waitFor(body.number() as Revision, { timeoutMs: settleMsMax });
    return () => undefined;
  });
  channel.take(kinds.setVerbosity, (body) => logger.setVerbosity?.(body.uint()));
}

/** Restores the methods of the configuration, which are not sent. */
function receivedConfig(config: ServerConfig): ServerConfig {
  return { ...config, naming: Object.assign(new NamingProfile(), config.naming) };
}

/** True if requests wait until their audit events are written. */
function auditWaits({ audit: { log, webhook } }: ServerConfig): boolean {
  const waits = (isUsed: boolean, { mode }: AuditSinkConfig) => isUsed && mode !== 'batch';
  return waits(log.path !== undefined, log) || waits(webhook.configFile !== undefined, webhook);
}

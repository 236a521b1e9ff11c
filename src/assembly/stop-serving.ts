import type { ServerConfig } from '../config/server-config.js';
import type { Connections } from '../connections/connections.js';
import type { WatchStreams } from '../endpoints/watch-stream.js';
import { sleep } from '../std/clock.js';
import type { ServerProcess } from '../workers/server-processes.js';
import type { ServerComponents } from './components.js';

/** Stops a process of a server: all of it, or its part of it, with the workers that it has started. */
export async function stopProcess(
  config: ServerConfig,
  components: StoppedComponents,
  { connections, ownProcess }: { readonly connections: Connections; readonly ownProcess: ServerProcess | undefined },
): Promise<void> {
  if (!ownProcess) return stopServing(config, components, connections);
  const { port } = ownProcess;
  const ofProcess: ServedConnections = {
    stopListening() {
      port.close();
      connections.stopListening();
    },
    closeUpgraded: () => connections.closeUpgraded(),
    quiet: (graceMs) => connections.quiet(graceMs),
    drain(graceMs) {
      port.close();
      return connections.drain(graceMs);
    },
  };
  await Promise.all([stopServing(config, components, ofProcess), ownProcess.workers?.stop()]);
}

interface StoppedComponents extends Pick<ServerComponents, 'phase' | 'clock' | 'flowControl'> {
  readonly watches: Pick<WatchStreams, 'endAll'>;
}

type ServedConnections = Pick<Connections, 'stopListening' | 'closeUpgraded' | 'quiet' | 'drain'>;

/**
 * Stops as kube-apiserver does. During --shutdown-delay-duration all requests are served, on new connections too, while
 * /readyz fails so that load balancers stop sending. Then the port is closed at once: another server can listen on it,
 * and reconnecting clients reach that server.
 */
async function stopServing(
  config: ServerConfig,
  { phase, watches, clock, flowControl }: StoppedComponents,
  connections: ServedConnections,
): Promise<void> {
  phase.isStopping = true;
  if (config.shutdownDelayMs > 0) await sleep(clock, config.shutdownDelayMs);
  const { shutdownGraceMs } = config.limits;
  // With --shutdown-send-retry-after the server listens, and refuses with 429, until running requests have ended.
  if (config.shutdownSendsRetryAfter) {
    phase.isRefusing = true;
    connections.closeUpgraded();
    await Promise.all([connections.quiet(shutdownGraceMs), watches.endAll(clock, config.shutdownWatchGraceMs)]);
    return connections.drain(0);
  }
  connections.stopListening();
  if (flowControl) {
    flowControl.pacing.stop();
    await afterNextPoll();
  }
  const ending = watches.endAll(clock, config.shutdownWatchGraceMs);
  await connections.drain(Math.max(shutdownGraceMs, config.shutdownWatchGraceMs));
  await ending;
}

/** Resolves when the event loop has read the sockets once more. */
async function afterNextPoll(): Promise<void> {
  // The first one is of the present turn of the event loop.
  for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
}

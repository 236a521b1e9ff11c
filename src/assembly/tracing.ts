import { hostname } from 'node:os';
import type { ServerConfig } from '../config/server-config.js';
import { leaseNameOf } from '../reconcilers/server-identity/identity-lease.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';
import type { Tracing } from '../tracing/open-tracing.js';
import type { UndoSteps } from './undo-steps.js';

interface Dependencies {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly undo: UndoSteps;
}

/** Time to send the last spans when the server stops. */
const flushMs = 3_000;

/** Opens tracing if --tracing-config-file is given; its modules are not loaded without it. */
export async function startTracing(
  { tracing: { configFile }, naming }: ServerConfig,
  { undo, ...dependencies }: Dependencies,
): Promise<Tracing | undefined> {
  if (configFile === undefined) return undefined;
  const { openTracing } = await import('../tracing/open-tracing.js');
  const tracing = openTracing(configFile, { naming, ...dependencies });
  undo.add(() => tracing.exporter.close(flushMs));
  return tracing;
}

/** Names this server in the spans, as kube-apiserver does. */
export function identifyServer({ exporter }: Tracing, address: () => string): void {
  exporter.resource = () => ({
    'service.name': 'apiserver',
    'service.instance.id': leaseNameOf({ hostName: hostname(), address: address() }),
  });
}

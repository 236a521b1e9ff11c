import { availableParallelism } from 'node:os';
import { processesMax } from './checks.js';
import type { ServerConfig } from './server-config.js';

/** Returns the number of processes of --workers. */
export function processCount({ workers }: Pick<ServerConfig, 'workers'>): number {
  return workers === 'auto' ? Math.min(availableParallelism(), processesMax) : Number(workers);
}

import { startOpenKeelson, type Keelson, type KeelsonOptions } from './assembly/start-keelson.js';

export type { Keelson, KeelsonOptions };

/**
 * Starts a whole server in this process, for tests: in memory unless a store is given, on a free port of 127.0.0.1,
 * with a CA that all servers of the process share. Any number may run at once.
 */
export function startKeelson(options?: KeelsonOptions): Promise<Keelson> {
  return startOpenKeelson(options);
}

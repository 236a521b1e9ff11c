import type { Server } from 'node:tls';
import type { AuditSink } from '../audit/audit-sink.js';
import type { Revision } from '../machinery/revision.js';

/** The port of a server of several processes, as one of them sees it. */
export interface PortAccess {
  /** Gives connections to the server from now on. Returns the number of the port. */
  listen(server: Server, port: number, address: string): Promise<number>;
  /** Ends that; open connections continue. */
  close(): void;
}

/** A process of a server that consists of several. */
export interface ServerProcess {
  /** 0: the process with the store. */
  readonly index: number;
  readonly count: number;
  readonly port: PortAccess;
  /** Of the process with the store. */
  readonly workers?: WorkersSeams;
  /** Of a worker. */
  readonly worker?: WorkerSeams;
}

/** The calls of workers by the process with the store. */
interface WorkersSeams {
  /** Resolves when all processes have applied a revision, or one of them takes too long. */
  readonly settled: (revision: Revision) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The work of a worker that the process with the store does. */
export interface WorkerSeams {
  readonly auditSink: AuditSink;
  /** Names of the reconcilers that run there. */
  readonly reconcilers: readonly string[];
  /** Names of the checks that fail in the process with the store. */
  failedChecks(endpoint: string): Promise<readonly string[]>;
}

/** Returns the part of a limit of the whole server that is for one of its processes. The parts add up to the limit. */
export function partOf(limit: number, { index, count }: Pick<ServerProcess, 'index' | 'count'>): number {
  return Math.floor(limit / count) + (index < limit % count ? 1 : 0);
}

import type { KeyPairPem } from '../certificates/pem.js';
import type { ServiceAccountKey } from '../certificates/authority.js';
import type { ServerConfig } from '../config/server-config.js';

/** Keys and certificates that the process with the store keeps in files. */
export interface SharedCertificates {
  /** PEM of the CA of clients and of the serving certificate. */
  readonly authority: string;
  readonly serving: KeyPairPem | undefined;
  readonly admin: KeyPairPem;
  readonly frontProxyAuthority: string;
  readonly frontProxyClient: KeyPairPem;
}

/** The first message to a worker. */
export interface StartMessage {
  readonly type: 'start';
  readonly index: number;
  readonly count: number;
  readonly port: number;
  readonly config: ServerConfig;
  readonly certificates: SharedCertificates;
  /** Undefined if it could not be generated. */
  readonly serviceAccountKey: ServiceAccountKey | undefined;
  readonly serviceAccountKeyFile: string | undefined;
  /** Reconcilers that run in the process with the store. */
  readonly reconcilers: readonly string[];
}

/** Messages to a worker that are not calls. A connection comes with its socket. */
export type WorkerMessage =
  | StartMessage
  | { readonly type: 'connection' }
  | { readonly type: 'certificates'; readonly certificates: SharedCertificates }
  | { readonly type: 'stop' };

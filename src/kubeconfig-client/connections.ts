import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { areEqualIdentities, tlsOptions, type TlsIdentity, type TlsSettings } from './tls-options.js';

/** Below the idle timeout of servers, 90 s, so that they rarely close a connection that is about to be used. */
const idleMsMax = 60_000;
const idleConnectionsMax = 16;

/** Connections with one client certificate and CA. */
export interface Connection {
  readonly agent: HttpAgent;
  /** Responses without an end, which are closed with their connection when the certificate changes. */
  readonly watches: Set<Duplex>;
  isRetired: boolean;
}

/**
 * Connections of a client. A server checks a client certificate only when a connection is opened, so a changed one
 * closes the old connections: idle ones and watches at once, others after their response.
 */
export class Connections {
  private current: (Connection & { readonly identity: TlsIdentity }) | undefined;

  constructor(
    private readonly kubeconfig: TlsSettings,
    private readonly connectionsMax: number,
  ) {}

  /** Returns connections with the certificates; if changed ones are unusable, those with the previous ones. */
  with(identity: TlsIdentity): Connection {
    if (this.current && areEqualIdentities(this.current.identity, identity)) return this.current;
    let agent: HttpAgent;
    try {
      agent = this.makeAgent(identity);
    } catch (error) {
      // A key may be written after its certificate: the files are read again within a second.
      if (this.current && this.kubeconfig.user.clientCertificate) return this.current;
      throw error;
    }
    this.close();
    const made = { identity, agent, watches: new Set<Duplex>(), isRetired: false };
    this.current = made;
    return made;
  }

  /** Closes idle connections and watches; others close after their response. */
  close(): void {
    const { current } = this;
    this.current = undefined;
    if (!current) return;
    current.isRetired = true;
    current.agent.maxFreeSockets = 0;
    for (const sockets of Object.values(current.agent.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy();
    }
    for (const watch of current.watches) watch.destroy();
  }

  private makeAgent(identity: TlsIdentity): HttpAgent {
    const limits: AgentOptions = {
      keepAlive: true,
      maxSockets: this.connectionsMax,
      maxFreeSockets: idleConnectionsMax,
      timeout: idleMsMax,
      scheduling: 'lifo',
    };
    if (this.kubeconfig.cluster.server.protocol === 'http:') return new HttpAgent(limits);
    return new HttpsAgent({ ...limits, ...tlsOptions(this.kubeconfig, identity) });
  }
}

import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { checkServerIdentity, createSecureContext } from 'node:tls';
import { ClientError, reasonOf } from './client-error.js';
import { missingNamesError } from './connection-error.js';
import { areEqualPairs, type KeyPair } from './credentials.js';
import type { Kubeconfig } from './kubeconfig.js';

/** The settings of a kubeconfig that concern connections. */
interface TlsSettings {
  readonly location: string;
  readonly cluster: Pick<Kubeconfig['cluster'], 'server' | 'tlsServerName' | 'skipsTlsVerify'>;
  readonly user: Pick<Kubeconfig['user'], 'clientCertificate'>;
}

interface TlsIdentity {
  readonly certificateAuthority: Buffer | undefined;
  readonly clientCertificate: KeyPair | undefined;
}

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
    const { cluster } = this.kubeconfig;
    if (cluster.server.protocol === 'http:') return new HttpAgent(limits);
    const name = cluster.tlsServerName;
    return new HttpsAgent({
      ...limits,
      secureContext: this.secureContext(identity),
      rejectUnauthorized: !cluster.skipsTlsVerify,
      // TLS has no server name indication for IP addresses.
      ...(name !== undefined && { servername: isIP(name) ? '' : name }),
      checkServerIdentity: (host, certificate) =>
        certificate.subjectaltname ? checkServerIdentity(name ?? host, certificate) : missingNamesError(),
    });
  }

  private secureContext({ certificateAuthority: ca, clientCertificate: pair }: TlsIdentity) {
    const failed = (problem: string, cause?: unknown) =>
      new ClientError('Kubeconfig', `kubeconfig ${this.kubeconfig.location}: ${problem}`, { cause });
    // Node takes a text without certificates for an empty list of CAs.
    if (ca && !ca.includes('-----BEGIN CERTIFICATE-----') && !ca.includes('-----BEGIN TRUSTED CERTIFICATE-----')) {
      throw failed('certificate-authority has no certificate in PEM; copy the CA certificate of the cluster into it');
    }
    try {
      return createSecureContext({ ...(ca && { ca }), ...(pair && { cert: pair.certificate, key: pair.key }) });
    } catch (error) {
      const source = pair ? 'the client certificate and key, or certificate-authority,' : 'certificate-authority';
      throw failed(`${source} cannot be used: ${reasonOf(error)}; write PEM files that belong together`, error);
    }
  }
}

function areEqualIdentities(one: TlsIdentity, other: TlsIdentity): boolean {
  const [a, b] = [one.certificateAuthority, other.certificateAuthority];
  return (a === b || (a && b && a.equals(b))) === true && areEqualPairs(one.clientCertificate, other.clientCertificate);
}

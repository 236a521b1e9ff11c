import type { SecureContextOptions, TLSSocket } from 'node:tls';
import type { AddressInfo } from 'node:net';
import type { Live } from '../../certificates/live.js';
import type { TlsContext } from '../../certificates/tls-material.js';
import type { Limits } from '../../config/limits.js';
import { Connections } from '../../connections/connections.js';
import { makeProtocolServers } from '../../connections/protocol-servers.js';
import { makeRoutable } from '../../connections/unusual-requests.js';
import { TimerWheel } from '../../std/timer-wheel.js';
import type { AgentDependencies } from '../agent-dependencies.js';
import type { AgentListener } from './agent-listener.js';
import { capConnections } from './connection-caps.js';
import { StalledAnswers } from './stalled-answers.js';

interface Options extends AgentDependencies {
  readonly limits: Limits;
  readonly tls: Live<TlsContext>;
  readonly listener: AgentListener;
}

interface AgentServer {
  /** `https://127.0.0.1:10250` */
  readonly url: string;
  readonly port: number;
}

/** Paths at which the connection may leave HTTP, as they are written: another spelling is served as an ordinary request. */
const streamPath = /^\/(exec|attach|portForward)\//;

/** Serves HTTP/1.1 and HTTP/2 on the port of the agent. Client certificates are requested, but not required. */
export async function startAgentServer(options: Options): Promise<AgentServer> {
  const { limits, tls, clock, rng, logger, undo, listener } = options;
  const { address, port } = options.options.serving;
  const tlsOptions = (): SecureContextOptions => tls.current();
  const stalled = new StalledAnswers(limits.watchWriteStallTimeoutMs, clock);
  undo.add(() => stalled.close());
  const servers = makeProtocolServers(
    { ...tlsOptions(), requestCert: true, rejectUnauthorized: false, handshakeTimeout: limits.tlsHandshakeTimeoutMs },
    {
      serveHttp2: true,
      streamsPerConnectionMax: limits.http2StreamsPerConnectionMax,
      headerBytesMax: limits.requestHeaderBytesMax,
      headersMax: limits.requestHeadersMax,
      headersTimeoutMs: limits.headersTimeoutMs,
      idleTimeoutMs: limits.idleConnectionTimeoutMs,
      upgrades: { takes: (_method, url) => streamPath.test(url) },
    },
    (request, response) => {
      connections.begin(request, response);
      stalled.watch(response);
      makeRoutable(request, limits.requestHeadersMax);
      void listener.serve(request, response);
    },
  );
  const { front } = servers;
  const caps = {
    connectionsMax: limits.agentConnectionsMax,
    connectionsPerAddressMax: limits.agentConnectionsPerAddressMax,
  };
  capConnections(front, caps, { clock, logger });
  const connections = new Connections(
    servers,
    {
      idleTimeoutMs: limits.idleConnectionTimeoutMs,
      headersTimeoutMs: limits.headersTimeoutMs,
      unreadBodyTimeoutMs: limits.unreadBodyTimeoutMs,
      goawayChance: 0,
      silenceMsMax: limits.http2SilenceMsMax,
      pingTimeoutMs: limits.http2PingTimeoutMs,
    },
    { clock, rng, wheel: new TimerWheel(clock) },
  );
  // Node does not close a socket whose TLS handshake failed or timed out.
  front.on('tlsClientError', (_error, socket: TLSSocket) => socket.destroy());
  undo.add(() => connections.drain(limits.shutdownGraceMs));
  undo.add(tls.onChange(() => front.setSecureContext(tlsOptions())));
  await new Promise<void>((resolve, reject) => {
    front.once('error', reject);
    front.listen(port, address, resolve);
  });
  front.on('error', (error) => logger.error('the port of the agent failed', { error }));
  const own = front.address() as AddressInfo;
  const host = own.family === 'IPv6' ? `[${own.address}]` : own.address;
  return { url: `https://${host}:${own.port}`, port: own.port };
}

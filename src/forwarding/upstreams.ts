import { lookup as resolve, type LookupAddress } from 'node:dns';
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { Clock } from '../std/clock.js';
import { addressNotAllowed, ForwardError, headBytesMax, headTooLarge } from './forward-error.js';
import { authorityOf, type ForwardTarget } from './forward-target.js';

interface UpstreamOptions {
  readonly clock: Clock;
  /**
   * Decides about each address that is dialled, after DNS, so that a name cannot stand for another address than the one
   * that was checked. All addresses are allowed if absent.
   */
  readonly permitsAddress?: ((address: string) => boolean) | undefined;
}

interface UpstreamRequest {
  readonly method: string;
  /** An escaped path with its query. */
  readonly path: string;
  /** Names and values in turn, with Host. */
  readonly headers: readonly string[];
  /** True: the connection is not shared, since it is a tunnel afterwards. */
  readonly isUpgrade?: boolean;
}

/** Time for DNS and the TCP connection, then for the TLS handshake; as in kube-apiserver. */
const dialTimeoutMs = 30_000;
const handshakeTimeoutMs = 10_000;
/** Silence after which TCP probes whether the server still exists: it may never send again. */
const keepAliveMs = 30_000;
/** Counted for each header in addition to its text. */
const headerBytes = 32;
/** Idle connections to one server that are kept. */
const idleConnectionsMax = 16;
/** Below the idle timeouts of servers, so that they rarely close a connection that is about to be used. */
const idleMsMax = 30_000;

/** Connections to other servers, kept open between requests. Those of different TLS identities are never shared. */
export class Upstreams {
  private readonly plain: http.Agent;
  private readonly secure: https.Agent;
  private readonly lookup: LookupFunction | undefined;

  constructor(private readonly options: UpstreamOptions) {
    const pool = { keepAlive: true, maxFreeSockets: idleConnectionsMax, timeout: idleMsMax };
    this.plain = new http.Agent(pool);
    this.secure = new https.Agent(pool);
    const { permitsAddress } = options;
    this.lookup = permitsAddress && checkedLookup(permitsAddress);
  }

  /** Begins a request. Throws ForwardError if the address is not allowed, or the request cannot be written as HTTP. */
  open(target: ForwardTarget, { method, path, headers, isUpgrade = false }: UpstreamRequest): http.ClientRequest {
    const { scheme, host, port, tls = {} } = target;
    // Node would take an empty host for localhost.
    if (host === '') throw new ForwardError('dial', 'dial tcp: missing address');
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new ForwardError('dial', `dial tcp: address ${port}: invalid port`);
    }
    if (isIP(host) && this.options.permitsAddress?.(host) === false) {
      throw new ForwardError('address', addressNotAllowed);
    }
    const options: http.RequestOptions = {
      host,
      port,
      method,
      path,
      headers,
      setHost: false,
      maxHeaderSize: headBytesMax,
      ...(this.lookup && { lookup: this.lookup }),
    };
    let request: http.ClientRequest;
    try {
      request =
        scheme === 'http'
          ? http.request({ ...options, agent: isUpgrade ? false : this.plain })
          : https.request({ ...options, ...tlsOptions(tls, host), agent: isUpgrade ? false : this.secure });
    } catch (error) {
      throw new ForwardError('request', error instanceof Error ? error.message : String(error), false, error);
    }
    this.boundConnecting(request, target);
    boundInformational(request);
    return request;
  }

  /** Closes idle connections; others close after their request. */
  close(): void {
    this.plain.destroy();
    this.secure.destroy();
  }

  private boundConnecting(request: http.ClientRequest, target: ForwardTarget): void {
    const { clock } = this.options;
    request.once('socket', (socket: Socket) => {
      if (!socket.connecting) return;
      socket.setKeepAlive(true, keepAliveMs);
      const failAfter = (ms: number, reason: string) =>
        clock.after(ms, () => request.destroy(new ForwardError('dial', reason)));
      let timer = failAfter(dialTimeoutMs, `dial tcp ${authorityOf(target)}: i/o timeout`);
      socket.once('connect', () => {
        timer.cancel();
        if (target.scheme === 'http') return;
        timer = failAfter(handshakeTimeoutMs, 'net/http: TLS handshake timeout');
        socket.once('secureConnect', () => timer.cancel());
      });
      socket.once('close', () => timer.cancel());
    });
  }
}

/** Bounds the headers of all informational answers (1xx) as those of one answer: a server could send them forever. */
function boundInformational(request: http.ClientRequest): void {
  let leftBytes = headBytesMax;
  request.on('information', ({ rawHeaders }: http.InformationEvent) => {
    leftBytes -= headerBytes;
    for (const text of rawHeaders) leftBytes -= text.length + headerBytes / 2;
    if (leftBytes < 0) request.destroy(new ForwardError('answer', headTooLarge));
  });
}

function tlsOptions(
  { ca, cert, key, serverName, isInsecure = false }: NonNullable<ForwardTarget['tls']>,
  host: string,
) {
  const servername = serverName ?? (isIP(host) ? '' : host);
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    servername,
    rejectUnauthorized: !isInsecure,
    ALPNProtocols: ['http/1.1'],
  };
}

/** Resolves names, and refuses one if any of its addresses is not allowed. */
function checkedLookup(permits: (address: string) => boolean): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return done(error, '');
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => permits(address))) {
        return done(new ForwardError('address', addressNotAllowed), '');
      }
      if (options.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

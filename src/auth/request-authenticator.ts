import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../std/clock.js';
import type { UserInfo } from '../machinery/user-info.js';
import {
  authenticate,
  isAuthenticated,
  reviewToken,
  type Authenticated,
  type Authenticator,
  type Credentials,
  type TokenVerdict,
} from './authenticator.js';
import { BearerStrategy } from './bearer-strategy.js';

export interface CertificateIdentities {
  /** The verified identity at the other end of the connection; `refused` says why it has none. */
  of(socket: TLSSocket): { readonly user: UserInfo } | { readonly refused: string } | undefined;
}

/** The other end, when it is a proxy whose word about users may count. */
export interface ProxyIdentities {
  of(socket: TLSSocket): string | undefined;
}

interface Parts {
  readonly authenticators: readonly Authenticator[];
  readonly certificates: CertificateIdentities | undefined;
  readonly proxies?: ProxyIdentities | undefined;
  readonly clock: Clock;
  /** What tokens for this server name as their audience. */
  readonly audiences?: readonly string[];
}

interface Remembered {
  readonly result: Authenticated;
  readonly untilMs: number;
}

/** How long an answer about a token is believed before its authenticator is asked again, and how many are kept. */
const tokenCacheTtlMs = 10_000;
const tokenCacheEntriesMax = 10_000;

/**
 * From a raw request to a user. Everything asked on every request of a busy client is remembered: the header text of a
 * token for ten seconds, a certificate for the life of its connection.
 */
export class RequestAuthenticator {
  private readonly tokens = new Map<string, Remembered>();
  private readonly bearer: BearerStrategy;

  constructor(private readonly parts: Parts) {
    this.bearer = new BearerStrategy((token, credentials) =>
      authenticate(this.parts.authenticators, { ...credentials, bearerToken: token }),
    );
  }

  /** Undefined: refused. */
  authenticate(
    raw: IncomingMessage | Http2ServerRequest,
    path: string,
  ): UserInfo | undefined | Promise<UserInfo | undefined> {
    const header = raw.headers.authorization;
    const proxyName = this.parts.proxies && this.proxyName(raw, this.parts.proxies);
    // One connection of a proxy carries many users: nothing about it may be remembered.
    if (proxyName !== undefined) return this.ask(raw, header, this.certificateUser(raw), path, proxyName);
    // Before any token: what a certificate proves must never be remembered as proved by the header beside it.
    const certificate = this.certificateUser(raw);
    if (typeof certificate === 'object') return certificate;
    if (header !== undefined) {
      const known = this.tokens.get(header);
      if (known && this.holds(known)) return known.result.user;
    }
    return this.ask(raw, header, certificate, path);
  }

  /** Whose token this is, for somebody who was shown it. Never from memory: it may have been revoked a moment ago. */
  review(token: string, audiences: readonly string[]): Promise<TokenVerdict> {
    return reviewToken(this.parts.authenticators, token, { asked: audiences, own: this.parts.audiences ?? [] });
  }

  private async ask(
    raw: IncomingMessage | Http2ServerRequest,
    header: string | undefined,
    certificateUser: Credentials['certificateUser'],
    path: string,
    proxyName?: string,
  ): Promise<UserInfo | undefined> {
    const { rawHeaders } = raw;
    const credentials: Credentials = { bearerToken: undefined, certificateUser, proxyName, rawHeaders, path };
    if (header === undefined || !/^bearer /i.test(header)) {
      const result = await authenticate(this.parts.authenticators, credentials);
      return isAuthenticated(result) ? result.user : undefined;
    }
    const result = await this.bearer.authenticate(header, credentials);
    if (!isAuthenticated(result)) return undefined;
    if (proxyName === undefined) this.remember(header, result);
    return result.user;
  }

  private certificateUser(raw: IncomingMessage | Http2ServerRequest): Credentials['certificateUser'] {
    const socket = socketOf(raw);
    if (!socket || !this.parts.certificates) return undefined;
    const verdict = this.parts.certificates.of(socket);
    return verdict && ('user' in verdict ? verdict.user : 'refused');
  }

  private proxyName(raw: IncomingMessage | Http2ServerRequest, proxies: ProxyIdentities): string | undefined {
    const socket = socketOf(raw);
    return socket && proxies.of(socket);
  }

  private holds({ result, untilMs }: Remembered): boolean {
    return untilMs > this.parts.clock.monotonicMs() && result.isStillTrue?.() !== false;
  }

  private remember(header: string, result: Authenticated): void {
    if (this.tokens.size >= tokenCacheEntriesMax) this.tokens.delete(this.tokens.keys().next().value!);
    this.tokens.set(header, { result, untilMs: this.parts.clock.monotonicMs() + tokenCacheTtlMs });
  }
}

function socketOf(raw: IncomingMessage | Http2ServerRequest): TLSSocket | undefined {
  const socket = 'stream' in raw ? raw.stream?.session?.socket : raw.socket;
  return socket instanceof TLSSocket ? socket : undefined;
}

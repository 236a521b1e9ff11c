import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../std/clock.js';
import type { UserInfo } from '../machinery/user-info.js';
import {
  authenticate,
  isAuthenticated,
  reviewToken,
  type Accepted,
  type Authenticated,
  type Authenticator,
  type Caller,
  type Credentials,
  type TokenVerdict,
} from './authenticator.js';
import { BearerStrategy } from './bearer-strategy.js';
import { malformed, webSocketAuthorization } from './websocket-token.js';
import { noTokenCacheObserver, type TokenCacheObserver } from './token-cache-observer.js';

export interface CertificateIdentities {
  /** Returns the user of the client certificate; `refused` is the reason for which it is invalid. */
  of(socket: TLSSocket): { readonly user: UserInfo } | { readonly refused: string } | undefined;
}

/** Identifies front proxies by their client certificate. */
export interface ProxyIdentities {
  /** Returns the common name of a proxy, undefined for other clients. */
  of(socket: TLSSocket): string | undefined;
}

interface Dependencies {
  readonly authenticators: readonly Authenticator[];
  readonly certificates: CertificateIdentities | undefined;
  readonly proxies?: ProxyIdentities | undefined;
  readonly clock: Clock;
  /** Audiences of tokens for this server. */
  readonly audiences?: readonly string[];
  readonly tokenCacheObserver?: TokenCacheObserver | undefined;
}

/** The parts of a request that a result can add to, and the end of the request. */
interface AuthenticatedRequest extends Caller {
  readonly auditAnnotations: Map<string, string>;
  readonly warnings: string[];
}

interface CachedResult {
  readonly result: Authenticated;
  readonly untilMs: number;
}

/** Time for which the result of a token is cached, and maximum number of cached results and of characters of tokens. */
export const tokenCacheTtlMs = 10_000;
const tokenCacheEntriesMax = 10_000;
const tokenCacheCharactersMax = 32 * 1024 * 1024;

/**
 * Authenticates requests. Results are cached: those of tokens by the Authorization header for ten seconds, those of
 * certificates for the life of the connection.
 */
export class RequestAuthenticator {
  /** By Authorization header, the oldest first. */
  private readonly tokens = new Map<string, CachedResult>();
  private tokenCharacters = 0;
  private readonly bearer: BearerStrategy;
  private readonly observer: TokenCacheObserver;

  constructor(private readonly dependencies: Dependencies) {
    this.observer = dependencies.tokenCacheObserver ?? noTokenCacheObserver;
    this.bearer = new BearerStrategy((token, credentials) =>
      authenticate(this.dependencies.authenticators, { ...credentials, bearerToken: token }),
    );
  }

  /** Returns the user, undefined if the request is rejected. Adds the notes of the result to `request`. */
  authenticate(
    raw: IncomingMessage | Http2ServerRequest,
    path: string,
    request?: AuthenticatedRequest,
  ): UserInfo | undefined | Promise<UserInfo | undefined> {
    const { headers } = raw;
    const header =
      headers.authorization ?? (headers.upgrade === undefined ? undefined : webSocketAuthorization(headers));
    const proxyName = this.dependencies.proxies && this.proxyName(raw, this.dependencies.proxies);
    // A connection of a proxy carries requests of many users: nothing is cached.
    if (proxyName !== undefined) return this.ask(raw, header, this.certificateUser(raw), path, request, proxyName);
    // Checked before tokens, so that the user of a certificate is never cached for the header of the same request.
    const certificate = this.certificateUser(raw);
    if (typeof certificate === 'object') return certificate;
    if (header === malformed) return undefined;
    if (header !== undefined) {
      const known = this.tokens.get(header);
      if (known && this.isValid(known)) {
        this.observer.hit();
        return userOf(known.result, request);
      }
    }
    return this.ask(raw, header, certificate, path, request);
  }

  /** Authenticates a token for a TokenReview. Never cached, since the token may just have been revoked. */
  review(token: string, audiences: readonly string[], caller?: Caller): Promise<TokenVerdict> {
    const own = this.dependencies.audiences ?? [];
    return reviewToken(this.dependencies.authenticators, token, { requested: audiences, own }, caller);
  }

  private async ask(
    raw: IncomingMessage | Http2ServerRequest,
    header: string | undefined,
    certificateUser: Credentials['certificateUser'],
    path: string,
    request: AuthenticatedRequest | undefined,
    proxyName?: string,
  ): Promise<UserInfo | undefined> {
    const { rawHeaders } = raw;
    const credentials: Credentials = {
      bearerToken: undefined,
      certificateUser,
      proxyName,
      rawHeaders,
      path,
      caller: request,
    };
    if (header === undefined || !/^bearer /i.test(header)) {
      const result = await authenticate(this.dependencies.authenticators, credentials);
      return isAuthenticated(result) ? userOf(result, request) : undefined;
    }
    const result = await this.fetch(header, credentials);
    if (!isAuthenticated(result)) return undefined;
    if (proxyName === undefined && result.reads === 'bearer token') this.remember(header, result);
    return userOf(result, request);
  }

  private async fetch(header: string, credentials: Credentials): Promise<Accepted | 'rejected' | undefined> {
    const waited = this.observer.miss();
    const fetched = this.observer.fetch();
    let isOk = false;
    try {
      const result = await this.bearer.authenticate(header, credentials);
      isOk = true;
      return result;
    } finally {
      fetched(isOk);
      waited();
    }
  }

  private certificateUser(raw: IncomingMessage | Http2ServerRequest): Credentials['certificateUser'] {
    const socket = socketOf(raw);
    if (!socket || !this.dependencies.certificates) return undefined;
    const verdict = this.dependencies.certificates.of(socket);
    return verdict && ('user' in verdict ? verdict.user : 'refused');
  }

  private proxyName(raw: IncomingMessage | Http2ServerRequest, proxies: ProxyIdentities): string | undefined {
    const socket = socketOf(raw);
    return socket && proxies.of(socket);
  }

  private isValid({ result, untilMs }: CachedResult): boolean {
    return untilMs > this.dependencies.clock.monotonicMs() && result.isStillValid?.() !== false;
  }

  private remember(header: string, result: Authenticated): void {
    if (!this.tokens.delete(header)) this.tokenCharacters += header.length;
    const nowMs = this.dependencies.clock.monotonicMs();
    this.tokens.set(header, { result, untilMs: nowMs + tokenCacheTtlMs });
    for (const [oldest, { untilMs }] of this.tokens) {
      const isWithinBounds =
        this.tokens.size <= tokenCacheEntriesMax && this.tokenCharacters <= tokenCacheCharactersMax;
      if (isWithinBounds && untilMs > nowMs) break;
      this.tokens.delete(oldest);
      this.tokenCharacters -= oldest.length;
    }
  }
}

function userOf({ user, notes }: Authenticated, noted: AuthenticatedRequest | undefined): UserInfo {
  if (notes && noted) {
    for (const [key, text] of Object.entries(notes.annotations)) noted.auditAnnotations.set(key, text);
    if (notes.warnings) noted.warnings.push(...notes.warnings);
  }
  return user;
}

function socketOf(raw: IncomingMessage | Http2ServerRequest): TLSSocket | undefined {
  const socket = 'stream' in raw ? raw.stream?.session?.socket : raw.socket;
  return socket instanceof TLSSocket ? socket : undefined;
}

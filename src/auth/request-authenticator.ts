import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../std/clock.js';
import type { UserInfo } from '../machinery/user-info.js';
import { authenticate, type Authenticator, type Credentials } from './authenticator.js';
import { BearerStrategy } from './bearer-strategy.js';

export interface CertificateIdentities {
  /** The verified identity at the other end of the connection; `refused` says why it has none. */
  of(socket: TLSSocket): { readonly user: UserInfo } | { readonly refused: string } | undefined;
}

interface Parts {
  readonly authenticators: readonly Authenticator[];
  readonly certificates: CertificateIdentities | undefined;
  readonly clock: Clock;
}

/** How long an answer about a token is believed before its authenticator is asked again, and how many are kept. */
const tokenCacheTtlMs = 10_000;
const tokenCacheEntriesMax = 10_000;

/**
 * From a raw request to a user. Everything asked on every request of a busy client is remembered: the header text of a
 * token for ten seconds, a certificate for the life of its connection.
 */
export class RequestAuthenticator {
  private readonly tokens = new Map<string, { user: UserInfo; untilMs: number }>();
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
    if (header !== undefined) {
      const known = this.tokens.get(header);
      if (known && known.untilMs > this.parts.clock.monotonicMs()) return known.user;
    }
    const certificate = this.certificateUser(raw);
    if (header === undefined && certificate) return certificate;
    return this.ask(raw, header, certificate, path);
  }

  private async ask(
    raw: IncomingMessage | Http2ServerRequest,
    header: string | undefined,
    certificateUser: UserInfo | undefined,
    path: string,
  ): Promise<UserInfo | undefined> {
    const credentials: Credentials = { bearerToken: undefined, certificateUser, rawHeaders: raw.rawHeaders, path };
    if (header === undefined || !/^bearer /i.test(header)) {
      const result = await authenticate(this.parts.authenticators, credentials);
      return typeof result === 'object' ? result.user : undefined;
    }
    const result = await this.bearer.authenticate(header, credentials);
    if (typeof result !== 'object') return undefined;
    this.remember(header, result.user);
    return result.user;
  }

  private certificateUser(raw: IncomingMessage | Http2ServerRequest): UserInfo | undefined {
    const socket = 'stream' in raw ? raw.stream?.session?.socket : raw.socket;
    if (!(socket instanceof TLSSocket) || !this.parts.certificates) return undefined;
    const verdict = this.parts.certificates.of(socket);
    return verdict && 'user' in verdict ? verdict.user : undefined;
  }

  private remember(header: string, user: UserInfo): void {
    if (this.tokens.size >= tokenCacheEntriesMax) this.tokens.delete(this.tokens.keys().next().value!);
    this.tokens.set(header, { user, untilMs: this.parts.clock.monotonicMs() + tokenCacheTtlMs });
  }
}

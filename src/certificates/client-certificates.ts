import type { DetailedPeerCertificate, PeerCertificate, TLSSocket } from 'node:tls';
import type { Clock } from '../std/clock.js';
import type { CaBundle } from './ca-bundle.js';
import { identityOfCertificate, type CertificateIdentity } from './certificate-identity.js';
import { reasonOf } from './certificate-error.js';
import { presentedMax, verifyClientCertificate } from './verify-client-certificate.js';

/** Result of a client certificate; undefined if the client presented none, or one without a user name. */
export type ClientCertificateVerdict =
  { readonly identity: CertificateIdentity } | { readonly refused: string } | undefined;

interface CachedVerdict {
  readonly bundle: CaBundle;
  readonly untilMs: number;
  readonly verdict: ClientCertificateVerdict;
}

/** Time for which a rejection is cached. A certificate may become valid later. */
const refusalMs = 10_000;

/**
 * Verifies the client certificates of TLS connections. A verification takes a few hundred microseconds, so its result
 * is cached for the connection until the bundle is reloaded or a certificate of the chain expires.
 */
export class ClientCertificates {
  private readonly cache = new WeakMap<TLSSocket, CachedVerdict>();

  constructor(
    private readonly bundle: () => CaBundle | undefined,
    private readonly labelDomain: string,
  ) {}

  /** Reads the clock only if the verdict may have expired: most clients present no certificate. */
  verdictOf(socket: TLSSocket, clock: Pick<Clock, 'now'>): ClientCertificateVerdict {
    const bundle = this.bundle();
    if (bundle === undefined) return undefined;
    const known = this.cache.get(socket);
    if (known !== undefined && known.bundle === bundle) {
      if (known.untilMs === Infinity || clock.now() <= known.untilMs) return known.verdict;
    }
    const verified = this.verify(socket, bundle, clock.now());
    this.cache.set(socket, { bundle, ...verified });
    return verified.verdict;
  }

  private verify(socket: TLSSocket, bundle: CaBundle, nowMs: number): Omit<CachedVerdict, 'bundle'> {
    const peer = socket.getPeerCertificate(true);
    const presented = presentedChain(peer);
    if (presented.length === 0) return { untilMs: Infinity, verdict: undefined };
    const verification = verifyClientCertificate(presented, bundle, nowMs);
    if (!verification.ok) return { untilMs: nowMs + refusalMs, verdict: { refused: verification.reason } };
    try {
      const identity = identityOfCertificate(peer, this.labelDomain);
      return { untilMs: verification.validToMs, verdict: identity && { identity } };
    } catch (error) {
      return { untilMs: verification.validToMs, verdict: { refused: reasonOf(error) } };
    }
  }
}

/** Returns the presented certificates in DER, the leaf first. A self-signed one is its own issuer and ends the list. */
function presentedChain(peer: DetailedPeerCertificate | PeerCertificate): Buffer[] {
  const chain: Buffer[] = [];
  let at: Partial<DetailedPeerCertificate> | undefined = peer;
  while (at?.raw !== undefined && chain.length <= presentedMax) {
    chain.push(at.raw);
    if (at.issuerCertificate === at) break;
    at = at.issuerCertificate;
  }
  return chain;
}

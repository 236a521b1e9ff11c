import type { DetailedPeerCertificate, PeerCertificate, TLSSocket } from 'node:tls';
import type { CaBundle } from './ca-bundle.js';
import { identityOfCertificate, type CertificateIdentity } from './certificate-identity.js';
import { reasonOf } from './certificate-error.js';
import { verifyClientCertificate } from './verify-client-certificate.js';

/** `undefined`: the client presented no certificate, or one without a user name. */
export type ClientCertificateVerdict =
  { readonly identity: CertificateIdentity } | { readonly refused: string } | undefined;

interface Remembered {
  readonly bundle: CaBundle;
  readonly untilMs: number;
  readonly verdict: ClientCertificateVerdict;
}

const presentedMax = 10;
/** A refused certificate may become valid; until it is judged again, its requests cost nothing. */
const refusalMs = 10_000;

/**
 * Who is at the other end of a TLS connection. A verdict costs a few hundred microseconds, so it is made once for
 * each connection, and again when the bundle was reloaded or a certificate of the chain ran out.
 */
export class ClientCertificates {
  private readonly remembered = new WeakMap<TLSSocket, Remembered>();

  constructor(
    private readonly bundle: () => CaBundle | undefined,
    private readonly labelDomain: string,
  ) {}

  verdictOf(socket: TLSSocket, nowMs: number): ClientCertificateVerdict {
    const bundle = this.bundle();
    if (bundle === undefined) return undefined;
    const known = this.remembered.get(socket);
    if (known !== undefined && known.bundle === bundle && nowMs <= known.untilMs) return known.verdict;
    const made = this.judge(socket, bundle, nowMs);
    this.remembered.set(socket, { bundle, ...made });
    return made.verdict;
  }

  private judge(socket: TLSSocket, bundle: CaBundle, nowMs: number): Omit<Remembered, 'bundle'> {
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

/** In DER, the client's own first. A self-signed certificate is its own issuer, which ends the list. */
export function presentedChain(peer: DetailedPeerCertificate | PeerCertificate): Buffer[] {
  const chain: Buffer[] = [];
  let at: Partial<DetailedPeerCertificate> | undefined = peer;
  while (at?.raw !== undefined && chain.length <= presentedMax) {
    chain.push(at.raw);
    if (at.issuerCertificate === at) break;
    at = at.issuerCertificate;
  }
  return chain;
}

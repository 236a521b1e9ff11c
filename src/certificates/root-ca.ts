import type { X509Certificate } from 'node:crypto';
import type { Logger } from '../std/logger.js';
import type { CaBundle } from './ca-bundle.js';
import type { Live } from './live.js';
import { parseCertificates } from './pem.js';

interface RootCa {
  /** PEM of the certificates with which clients verify the serving certificate. */
  readonly pem: string;
  /**
   * False if the root is unknown and an intermediate is published instead, which Go's clients accept and others do not.
   */
  readonly isRoot: boolean;
}

/**
 * Returns the CA of a serving certificate: the server's own if it signed the chain, else a known CA that did, else the
 * last certificate of the chain.
 */
export function rootCaOf(servingPem: string, own: CaBundle, known: readonly X509Certificate[]): RootCa {
  const last = endOfChain(parseCertificates(servingPem, 'the serving certificate'));
  const isAbove = (authority: X509Certificate) => authority.raw.equals(last.raw) || hasSigned(authority, last);
  if (own.certificates.some(isAbove)) return { pem: own.pem, isRoot: true };
  const authority = known.find(isAbove);
  if (authority) return { pem: authority.toString(), isRoot: true };
  return { pem: last.toString(), isRoot: last.verify(last.publicKey) };
}

function endOfChain(chain: readonly X509Certificate[]): X509Certificate {
  const passed = new Set<X509Certificate>();
  let last = chain[0]!;
  for (let next: X509Certificate | undefined = last; next;) {
    last = next;
    passed.add(last);
    next = chain.find((other) => !passed.has(other) && hasSigned(other, last));
  }
  return last;
}

function hasSigned(authority: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

interface Sources {
  /** Returns the PEM of the current serving certificate and its chain. */
  readonly servingPem: () => string;
  readonly own: () => CaBundle;
  readonly known: () => readonly X509Certificate[];
  /** Content of --root-ca-file, which takes precedence. */
  readonly configured: Live<CaBundle> | undefined;
  readonly onChange: (listener: () => void) => () => void;
  readonly logger: Logger;
}

/** The PEM of rootCaOf(), computed again when its certificates change. */
export class LiveRootCa implements Live<string> {
  private computed: { readonly from: string; readonly pem: string } | undefined;

  constructor(private readonly sources: Sources) {}

  current(): string {
    const { servingPem, own, known, configured, logger } = this.sources;
    if (configured) return configured.current().pem;
    const serving = servingPem();
    const from = [serving, own().pem, ...known().map(({ fingerprint256 }) => fingerprint256)].join();
    if (this.computed?.from === from) return this.computed.pem;
    const { pem, isRoot } = rootCaOf(serving, own(), known());
    if (!isRoot) {
      logger.warn('the root CA of the serving certificate is unknown; name its file with --root-ca-file', {
        published: 'the last certificate of the serving chain',
      });
    }
    this.computed = { from, pem };
    return pem;
  }

  /** Calls `listener` only if the CA has changed. */
  onChange(listener: (pem: string) => void): () => void {
    let before = this.current();
    const look = () => {
      const now = this.current();
      if (now === before) return;
      before = now;
      listener(now);
    };
    const ends = [this.sources.onChange(look), this.sources.configured?.onChange(look)];
    return () => {
      for (const end of ends) end?.();
    };
  }
}

import { createSecureContext, type SecureContext } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { certificateFacts, dnsNames } from './der.js';
import type { Live } from './live.js';
import type { KeyPairPem } from './pem.js';
import type { TlsContext } from './tls-material.js';

export interface NamedPair {
  readonly pair: Live<KeyPairPem>;
  /** `x.io` or `*.x.io`; none: those in the certificate. */
  readonly names: readonly string[];
}

/**
 * Which certificate a client is shown by the server name that it asks for. An exact name goes before a wildcard, and of
 * two pairs for one name the earlier one counts; who asks for anything else is shown the server's own.
 */
export class SniContexts {
  private byName = new Map<string, SecureContext>();
  private readonly stops: (() => void)[];

  constructor(
    private readonly pairs: readonly NamedPair[],
    /** What all contexts share: bundle, versions, ciphers. */
    private readonly shared: Live<TlsContext>,
  ) {
    this.byName = this.make();
    const remake = () => void (this.byName = this.make());
    const sources: readonly Live<unknown>[] = [shared, ...pairs.map(({ pair }) => pair)];
    this.stops = sources.map((source) => source.onChange(remake));
  }

  contextFor(serverName: string): SecureContext | undefined {
    const name = serverName.toLowerCase().replace(/\.$/, '');
    return this.byName.get(name) ?? this.byName.get(name.replace(/^[^.]+/, '*'));
  }

  close(): void {
    for (const stop of this.stops) stop();
  }

  private make(): Map<string, SecureContext> {
    const byName = new Map<string, SecureContext>();
    for (const { pair, names } of this.pairs) {
      const { certificate, key } = pair.current();
      const context = createSecureContext({ ...this.shared.current(), cert: certificate, key });
      const served = names.length > 0 ? names : namesIn(certificate);
      for (const name of served.map((name) => name.toLowerCase())) {
        if (!byName.has(name)) byName.set(name, context);
      }
    }
    return byName;
  }
}

function namesIn(pem: string): readonly string[] {
  const certificate = new X509Certificate(pem);
  const alternative = dnsNames(certificateFacts(certificate));
  const { CN: common } = certificate.toLegacyObject().subject as { CN?: string | string[] };
  return alternative.length > 0 ? alternative : [common ?? []].flat();
}

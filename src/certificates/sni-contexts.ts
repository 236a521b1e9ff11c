import { createSecureContext, type SecureContext } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { certificateFacts, dnsNames } from './der.js';
import type { Live } from './live.js';
import type { KeyPairPem } from './pem.js';
import type { TlsContext } from './tls-material.js';

export interface NamedPair {
  readonly pair: Live<KeyPairPem>;
  /** Server names, `x.io` or `*.x.io`. If empty, the names in the certificate apply. */
  readonly names: readonly string[];
}

/**
 * Selects the serving certificate by server name (SNI). An exact name takes precedence over a wildcard, and of two
 * pairs for the same name the first one is used. Other names get the default certificate.
 */
export class SniContexts {
  private byName = new Map<string, SecureContext>();
  private readonly stops: (() => void)[];

  constructor(
    private readonly pairs: readonly NamedPair[],
    /** Settings of all contexts: client CA bundle, TLS version, cipher suites. */
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

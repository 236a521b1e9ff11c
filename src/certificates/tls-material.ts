import { constants } from 'node:crypto';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { joinCaBundles, parseCaBundle, type CaBundle } from './ca-bundle.js';
import { LiveFiles } from './live-files.js';
import { LiveValue, type Live } from './live.js';
import { parseServingPair, type KeyPairPem } from './pem.js';
import { opensslCiphers, tlsVersionOf, type TlsVersion } from './tls-names.js';

/** Options of tls.createServer that server.setSecureContext can change later. */
export interface TlsContext {
  readonly cert: string;
  readonly key: string;
  /** Always set: without it Node would trust all public CAs for client certificates. */
  readonly ca: string[];
  readonly minVersion: TlsVersion;
  readonly ciphers?: string;
  readonly honorCipherOrder?: boolean;
  readonly secureOptions: number;
}

interface TlsMaterialOptions {
  readonly serving: Live<KeyPairPem>;
  /** CA bundles that verify client certificates, all together. */
  readonly clientCas: readonly Live<CaBundle>[];
  /** CA bundles of front proxies: offered to clients in the handshake, but not trusted for users. */
  readonly proxyCas?: readonly Live<CaBundle>[];
  /** Name in Go, `VersionTLS12` by default. */
  readonly minVersion?: string;
  /** Names in Go; if empty, OpenSSL's defaults apply. */
  readonly cipherSuites?: readonly string[];
  readonly logger: Logger;
}

/** TLS settings that can change while the server runs. Changes apply to new connections. */
export class TlsMaterial implements Live<TlsContext> {
  private readonly context: LiveValue<TlsContext>;
  private bundle: CaBundle | undefined;
  private readonly stops: (() => void)[];

  constructor(private readonly options: TlsMaterialOptions) {
    this.bundle = this.makeBundle();
    this.context = new LiveValue(this.makeContext(), options.logger);
    const remake = () => {
      this.bundle = this.makeBundle();
      this.context.replace(this.makeContext());
    };
    this.stops = [options.serving, ...options.clientCas, ...(options.proxyCas ?? [])].map((source: Live<unknown>) =>
      source.onChange(remake),
    );
  }

  current(): TlsContext {
    return this.context.current();
  }

  onChange(listener: (context: TlsContext) => void): () => void {
    return this.context.onChange(listener);
  }

  /** Returns the CA bundle of client certificates, another object after each change; undefined if there are no CAs. */
  clientCaBundle(): CaBundle | undefined {
    return this.bundle;
  }

  close(): void {
    for (const stop of this.stops) stop();
  }

  private makeBundle(): CaBundle | undefined {
    const bundles = this.options.clientCas.map((source) => source.current());
    return bundles.length === 0 ? undefined : joinCaBundles(bundles);
  }

  private makeContext(): TlsContext {
    const { serving, proxyCas = [], minVersion, cipherSuites = [] } = this.options;
    const offered = [...(this.bundle ? [this.bundle] : []), ...proxyCas.map((source) => source.current())];
    const { certificate, key } = serving.current();
    return {
      cert: certificate,
      key,
      ca: offered.map(({ pem }) => pem),
      minVersion: tlsVersionOf(minVersion ?? 'VersionTLS12'),
      ...(cipherSuites.length > 0 && { ciphers: opensslCiphers(cipherSuites), honorCipherOrder: true }),
      // A resumed session lacks the intermediates of the client, so that its chain cannot be verified. A renegotiation
      // could present another certificate than the verified one.
      secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    };
  }
}

interface LiveFileOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pollMs?: number;
}

export function liveServingPair(
  options: LiveFileOptions & { readonly certificateFile: string; readonly keyFile: string },
): Promise<LiveFiles<KeyPairPem>> {
  const files = { certificate: options.certificateFile, key: options.keyFile };
  return LiveFiles.open({
    ...options,
    files: [files.certificate, files.key],
    parse: ([certificate, key]) => parseServingPair({ certificate: String(certificate), key: String(key) }, files),
  });
}

export function liveCaBundle(options: LiveFileOptions & { readonly file: string }): Promise<LiveFiles<CaBundle>> {
  return LiveFiles.open({
    ...options,
    files: [options.file],
    parse: ([pem]) => parseCaBundle(String(pem), options.file),
  });
}

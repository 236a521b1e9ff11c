import type { ServiceAccountKey } from '../certificates/authority.js';
import { parseCaBundle, type CaBundle } from '../certificates/ca-bundle.js';
import { CertificateError } from '../certificates/certificate-error.js';
import { kubeconfig } from '../certificates/kubeconfig.js';
import { LiveValue } from '../certificates/live.js';
import type { KeyPairPem } from '../certificates/pem.js';
import type { Pki, ServiceAccountKeyFile } from '../certificates/pki.js';
import type { Logger } from '../std/logger.js';
import type { SharedCertificates, StartMessage } from './worker-messages.js';

/** Certificates of a worker: those of the process that has the files, which alone generates and renews them. */
export class ReceivedPki implements Pki {
  readonly authority: LiveValue<CaBundle>;
  readonly serving: LiveValue<KeyPairPem> | undefined;
  readonly admin: LiveValue<KeyPairPem>;
  readonly frontProxy: { readonly authority: LiveValue<CaBundle>; readonly client: LiveValue<KeyPairPem> };
  readonly serviceAccountKey: Promise<ServiceAccountKey>;
  readonly serviceAccountKeyFile: ServiceAccountKeyFile | undefined;

  constructor({ certificates, serviceAccountKey: key, serviceAccountKeyFile: path }: StartMessage, logger: Logger) {
    const { authority, serving, admin, frontProxyAuthority, frontProxyClient } = certificates;
    this.authority = new LiveValue(parseCaBundle(authority, 'ca.crt'), logger);
    this.serving = serving && new LiveValue(serving, logger);
    this.admin = new LiveValue(admin, logger);
    this.frontProxy = {
      authority: new LiveValue(parseCaBundle(frontProxyAuthority, 'front-proxy-ca.crt'), logger),
      client: new LiveValue(frontProxyClient, logger),
    };
    this.serviceAccountKey = key ? Promise.resolve(key) : Promise.reject(new CertificateError('there is no key'));
    // Callers that await the key get the error too.
    this.serviceAccountKey.catch(() => undefined);
    // The process that has the files writes the public key.
    this.serviceAccountKeyFile = path === undefined ? undefined : { path, savePublicKey: () => Promise.resolve() };
  }

  replace({ authority, serving, admin, frontProxyAuthority, frontProxyClient }: SharedCertificates): void {
    if (authority !== this.authority.current().pem) this.authority.replace(parseCaBundle(authority, 'ca.crt'));
    if (serving) this.serving?.replace(serving);
    this.admin.replace(admin);
    this.frontProxy.authority.replace(parseCaBundle(frontProxyAuthority, 'front-proxy-ca.crt'));
    this.frontProxy.client.replace(frontProxyClient);
  }

  adminKubeconfig(server: string): string {
    const certificateAuthority = this.authority.current().pem;
    return kubeconfig({ server, certificateAuthority, user: this.admin.current() });
  }

  issueClient(): Promise<KeyPairPem> {
    return Promise.reject(new CertificateError('a worker has no CA key to sign with'));
  }

  issuer(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Returns what a worker needs of the certificates of this process. */
export function sharedCertificates({ authority, serving, admin, frontProxy }: Pki): SharedCertificates {
  return {
    authority: authority.current().pem,
    serving: plain(serving?.current()),
    admin: plain(admin.current())!,
    frontProxyAuthority: frontProxy.authority.current().pem,
    frontProxyClient: plain(frontProxy.client.current())!,
  };
}

/** Only the texts can be sent: the pair may hold parsed certificates. */
function plain(pair: KeyPairPem | undefined): KeyPairPem | undefined {
  return pair && { certificate: pair.certificate, key: pair.key };
}

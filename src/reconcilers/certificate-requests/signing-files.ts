import { CertificateError } from '../../certificates/certificate-error.js';
import type { Signer } from '../../certificates/issue-certificate.js';
import { LiveFiles } from '../../certificates/live-files.js';
import { parseCertificates, parsePrivateKey } from '../../certificates/pem.js';
import type { SigningConfig, SigningFiles } from '../../config/server-config.js';
import type { Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import { signers, type SignerKind } from './signers.js';

interface OpenSigners {
  of(kind: SignerKind): Signer | undefined;
  close(): void;
}

/**
 * Opens the certificates and keys of the --cluster-signing-* flags and follows their changes; undefined if no flag is
 * set. If one signer has files of its own, signers without files do not sign, as in kube-controller-manager.
 */
export async function openSigners(
  signing: SigningConfig,
  dependencies: { readonly clock: Clock; readonly logger: Logger },
): Promise<OpenSigners | undefined> {
  const { apiServerClient, kubeletClient, kubeletServing, legacyUnknown } = signing;
  const own = { apiServerClient, kubeletClient, kubeletServing, legacyUnknown };
  const kinds = signers.filter((kind) => own[kind].certFile !== undefined);
  if (kinds.length === 0 && signing.certFile === undefined) return undefined;
  const open = ({ certFile, keyFile }: SigningFiles) => openSigner(certFile ?? '', keyFile ?? '', dependencies);
  const general = signing.certFile === undefined ? undefined : await open(signing);
  const files = new Map<SignerKind, LiveFiles<Signer>>();
  for (const kind of kinds) files.set(kind, await open(own[kind]));
  return {
    of: (kind) => (general ?? files.get(kind))?.current(),
    close() {
      for (const file of [...files.values(), ...(general ? [general] : [])]) file.close();
    },
  };
}

function openSigner(
  certFile: string,
  keyFile: string,
  dependencies: { readonly clock: Clock; readonly logger: Logger },
) {
  return LiveFiles.open<Signer>({
    ...dependencies,
    files: [certFile, keyFile],
    parse([certificatePem, keyPem]) {
      const certificate = parseCertificates(String(certificatePem), certFile)[0]!;
      const key = parsePrivateKey(String(keyPem), keyFile);
      if (!certificate.ca) throw new CertificateError(`${certFile} is not the certificate of an authority`);
      if (!certificate.checkPrivateKey(key)) {
        throw new CertificateError(`${keyFile} is not the key of the certificate in ${certFile}`);
      }
      return { certificate, key };
    },
  });
}

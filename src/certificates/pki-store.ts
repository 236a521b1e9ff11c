import { createPublicKey, X509Certificate, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import {
  keyPem,
  makeAuthority,
  makeClientPair,
  makeKey,
  makeServiceAccountKey,
  makeServingPair,
  renewalMs,
  type AdminSubject,
  type ServiceAccountKey,
} from './authority.js';
import { CertificateError } from './certificate-error.js';
import { identityOfCertificate } from './certificate-identity.js';
import { certificateFacts, dnsNames } from './der.js';
import type { Signer } from './issue-certificate.js';
import { GeneratedFiles } from './generated-files.js';
import {
  parseCertificates,
  parsePrivateKey,
  parseServingPair,
  validFromMs,
  validToMs,
  type KeyPairPem,
} from './pem.js';
import { createAtomically, readIfThere, writeAtomically } from './private-files.js';
import type { ServingNames } from './serving-names.js';

export interface Authority {
  readonly pem: string;
  readonly certificate: X509Certificate;
  /** Undefined if ca.key does not exist; then no certificates can be signed. */
  readonly key: KeyObject | undefined;
}

interface LeafFiles {
  readonly certificate: string;
  readonly key: string;
}

export interface LeafPair extends KeyPairPem {
  readonly files: LeafFiles;
  /** False for a pair of the user, which is never overwritten. */
  readonly isOurs: boolean;
}

interface LeafKind {
  readonly files: LeafFiles;
  readonly make: (signer: Signer, nowMs: number) => Promise<KeyPairPem>;
  /**
   * Returns the reason for which a valid certificate does not fit (other names or another user), undefined if it fits.
   */
  readonly mismatch: (leaf: X509Certificate) => string | undefined;
  /** True if a certificate of the user may be issued by any CA and contain any names. */
  readonly allowsAnyIssuer: boolean;
}

const secretMode = 0o600;
const publicMode = 0o644;

/**
 * The files of `<data directory>/pki`. Valid files are used unchanged. Generated files that expire or no longer fit are
 * generated again. Files of the user are never overwritten: if they are invalid, an error says what to do. The CA key
 * is never replaced.
 */
export class PkiStore {
  constructor(
    private readonly directory: string,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async loadAuthority(): Promise<Authority> {
    const file = { certificate: this.path('ca.crt'), key: this.path('ca.key') };
    const [certificatePem, storedKey] = await Promise.all([readIfThere(file.certificate), readIfThere(file.key)]);
    if (storedKey === undefined && certificatePem === undefined) {
      const key = makeKey();
      await this.record('ca.key', keyPem(key));
      // Another process may start on the same directory: both use the key that was written first.
      if (!(await createAtomically(file.key, keyPem(key), secretMode))) return this.loadAuthority();
      this.logger.info('generated a CA', { file: file.certificate });
      return this.writeAuthority(key);
    }
    const key = storedKey === undefined ? undefined : advised(file, () => parsePrivateKey(storedKey, file.key));
    if (certificatePem === undefined) {
      this.logger.warn('the CA certificate was missing; issued it again with the existing CA key', {
        file: file.certificate,
      });
      return this.writeAuthority(key!);
    }
    return this.checkAuthority({ file, pem: certificatePem, key });
  }

  loadServing(authority: Authority, names: ServingNames): Promise<LeafPair> {
    return this.loadLeaf(authority, {
      allowsAnyIssuer: true,
      files: { certificate: 'apiserver.crt', key: 'apiserver.key' },
      make: (signer, nowMs) => makeServingPair(signer, names, nowMs),
      mismatch(leaf) {
        const dns = new Set(dnsNames(certificateFacts(leaf)));
        const missing = [
          ...names.dns.filter((name) => !dns.has(name)),
          ...names.ip.filter((address) => leaf.checkIP(address) === undefined),
        ];
        return missing.length === 0 ? undefined : `it does not name ${missing.join(', ')}`;
      },
    });
  }

  loadAdmin(authority: Authority, subject: AdminSubject): Promise<LeafPair> {
    return this.loadLeaf(authority, {
      allowsAnyIssuer: false,
      files: { certificate: 'admin.crt', key: 'admin.key' },
      make: (signer, nowMs) => makeClientPair(signer, subject, nowMs),
      mismatch(leaf) {
        const identity = identityOfCertificate(leaf, '');
        const wanted = [subject.commonName, ...subject.organizations].join('\n');
        return identity !== undefined && [identity.name, ...identity.groups].join('\n') === wanted
          ? undefined
          : `it does not name the user ${subject.commonName}`;
      },
    });
  }

  /** Returns the service account key, undefined if it has not been generated yet. */
  async readServiceAccountKey(): Promise<ServiceAccountKey | undefined> {
    const file = this.path('sa.key');
    const privateKey = await readIfThere(file);
    if (privateKey === undefined) return undefined;
    const publicKey = createPublicKey(parsePrivateKey(privateKey, file)).export({
      type: 'spki',
      format: 'pem',
    }) as string;
    await this.savePublicKey(publicKey);
    return { privateKey, publicKey };
  }

  /** Writes sa.pub, for other servers. This server only reads the private key. */
  private async savePublicKey(publicKey: string): Promise<void> {
    const file = this.path('sa.pub');
    const found = await readIfThere(file);
    if (found === publicKey) return;
    if (found !== undefined && !(await GeneratedFiles.read(this.directory)).has('sa.pub', found)) {
      this.logger.warn(
        'the public service account key differs from its private key or has another format; it is not overwritten, ' +
          'remove it to have it written again',
        { file },
      );
      return;
    }
    await this.write('sa.pub', publicKey, publicMode);
  }

  async makeServiceAccountKey(): Promise<ServiceAccountKey> {
    const pair = await makeServiceAccountKey();
    await this.record('sa.key', pair.privateKey);
    const isFirst = await createAtomically(this.path('sa.key'), pair.privateKey, secretMode);
    if (isFirst) await this.savePublicKey(pair.publicKey);
    return isFirst ? pair : (await this.readServiceAccountKey())!;
  }

  private async checkAuthority(found: {
    file: LeafFiles;
    pem: string;
    key: KeyObject | undefined;
  }): Promise<Authority> {
    const { file, pem, key } = found;
    const certificate = advised(file, () => parseCertificates(pem, file.certificate))[0]!;
    if (key !== undefined && !certificate.checkPrivateKey(key)) {
      throw new CertificateError(`${file.key} is not the key of ${file.certificate}: ${advice(file)}`);
    }
    if (!certificate.ca) throw new CertificateError(`${file.certificate} is not a CA certificate: ${advice(file)}`);
    const remainingMs = validToMs(certificate) - this.clock.now();
    if (remainingMs > renewalMs) return { pem, certificate, key };
    // Only a generated self-signed CA is renewed here; others must be renewed by their owner.
    const isOurs = (await GeneratedFiles.read(this.directory)).has('ca.crt', pem);
    if (key !== undefined && isOurs && certificate.checkIssued(certificate)) {
      this.logger.warn('renewed the CA certificate, with the same key', { file: file.certificate });
      return this.writeAuthority(key, certificate);
    }
    if (remainingMs <= 0)
      throw new CertificateError(`${file.certificate} expired at ${certificate.validTo}: replace it`);
    this.logger.warn('the CA certificate expires soon and this server cannot renew it; replace it', {
      file: file.certificate,
      at: certificate.validTo,
    });
    return { pem, certificate, key };
  }

  private async writeAuthority(key: KeyObject, predecessor?: X509Certificate): Promise<Authority> {
    const pem = await makeAuthority(key, this.clock.now(), predecessor);
    await this.write('ca.crt', pem, publicMode);
    return { pem, certificate: new X509Certificate(pem), key };
  }

  private async loadLeaf(authority: Authority, kind: LeafKind): Promise<LeafPair> {
    const files = { certificate: this.path(kind.files.certificate), key: this.path(kind.files.key) };
    const [certificate, key] = await Promise.all([readIfThere(files.certificate), readIfThere(files.key)]);
    // Read after the files, so that it contains those that another process has just generated.
    const generated = await GeneratedFiles.read(this.directory);
    const isOurs =
      (certificate === undefined || generated.has(kind.files.certificate, certificate)) &&
      (key === undefined || generated.has(kind.files.key, key));
    if (!isOurs) return this.checkForeign({ certificate, key }, files, authority, kind);
    const pair = certificate === undefined || key === undefined ? undefined : { certificate, key };
    const problem = pair === undefined ? 'it was missing' : this.leafProblem(pair, files, authority, kind);
    if (problem === undefined) return { ...pair!, files, isOurs };
    if (authority.key === undefined) {
      throw new CertificateError(
        `${files.certificate} cannot be used, ${problem}, and without ${this.path('ca.key')} no other one can be issued: ` +
          'put that key there, or a certificate and its key',
      );
    }
    const signer = { certificate: authority.certificate, key: authority.key };
    const leaf = await kind.make(signer, this.clock.now());
    await this.write(kind.files.key, leaf.key, secretMode);
    await this.write(kind.files.certificate, leaf.certificate, publicMode);
    this.logger.info('issued a certificate', { file: files.certificate, reason: problem });
    return { ...leaf, files, isOurs };
  }

  /** Returns the pair of the user; throws CertificateError if it is invalid. */
  private checkForeign(
    { certificate, key }: { readonly [File in keyof KeyPairPem]: string | undefined },
    files: LeafFiles,
    authority: Authority,
    { allowsAnyIssuer, mismatch }: LeafKind,
  ): LeafPair {
    if (certificate === undefined || key === undefined) {
      const [there, missing] = key === undefined ? [files.certificate, files.key] : [files.key, files.certificate];
      throw new CertificateError(
        `${there} was not generated by this server, and ${missing} is missing: add that file, ` +
          `or remove ${there} to have a new pair generated`,
      );
    }
    const pair = advised(files, () => parseServingPair({ certificate, key }, files));
    const leaf = parseCertificates(certificate, files.certificate)[0]!;
    const nowMs = this.clock.now();
    if (validToMs(leaf) <= nowMs) {
      throw new CertificateError(
        `${files.certificate} expired at ${leaf.validTo} and was not generated by this server: replace it, ` +
          `or remove both ${files.certificate} and ${files.key} to have new ones generated`,
      );
    }
    if (validFromMs(leaf) > nowMs) {
      this.logger.warn('a certificate is not valid yet; clients will reject it until then', {
        file: files.certificate,
        validFrom: leaf.validFrom,
      });
    }
    const problem = allowsAnyIssuer ? undefined : (this.issuerProblem(leaf, authority) ?? mismatch(leaf));
    if (problem !== undefined)
      throw new CertificateError(`${files.certificate} cannot be used, ${problem}: ${advice(files)}`);
    return { ...pair, files, isOurs: false };
  }

  private leafProblem(pair: KeyPairPem, files: LeafFiles, authority: Authority, kind: LeafKind): string | undefined {
    const [leaf, key] = advised(files, () => {
      return [
        parseCertificates(pair.certificate, files.certificate)[0]!,
        parsePrivateKey(pair.key, files.key),
      ] as const;
    });
    // A crash between writing the two files causes this.
    if (!leaf.checkPrivateKey(key)) return 'its key is another one';
    const issuerProblem = this.issuerProblem(leaf, authority);
    if (issuerProblem !== undefined) return issuerProblem;
    const { certificate: ca } = authority;
    const nowMs = this.clock.now();
    if (validFromMs(leaf) > nowMs) return `it is not valid before ${leaf.validFrom}`;
    // Renewed early only if a new certificate would be valid longer: not without the CA key, nor beyond the CA's
    // expiry.
    const marginMs = authority.key !== undefined && validToMs(leaf) < validToMs(ca) ? renewalMs : 0;
    if (validToMs(leaf) - marginMs <= nowMs) return `it expires at ${leaf.validTo}`;
    return kind.mismatch(leaf);
  }

  private issuerProblem(leaf: X509Certificate, { certificate: ca }: Authority): string | undefined {
    return leaf.checkIssued(ca) && leaf.verify(ca.publicKey) ? undefined : `${this.path('ca.crt')} has not signed it`;
  }

  private async write(name: string, text: string, mode: number): Promise<void> {
    await this.record(name, text);
    await writeAtomically(this.path(name), text, mode);
  }

  private async record(name: string, text: string): Promise<void> {
    await (await GeneratedFiles.read(this.directory)).add(name, text);
  }

  private path(name: string): string {
    return join(this.directory, name);
  }
}

function advised<T>(files: LeafFiles, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    throw new CertificateError(`${error.message}. ${capitalized(advice(files))}`, { cause: error });
  }
}

function advice({ certificate, key }: LeafFiles): string {
  const consequence = certificate.endsWith('ca.crt') ? ', which no client trusts until it has the new kubeconfig' : '';
  return `restore it from a backup, or remove both ${certificate} and ${key} to have new ones generated${consequence}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

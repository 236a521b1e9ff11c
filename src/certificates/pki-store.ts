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
import { parseCertificates, parsePrivateKey, validFromMs, validToMs, type KeyPairPem } from './pem.js';
import { createAtomically, readIfThere, tighten, writeAtomically } from './private-files.js';
import type { ServingNames } from './serving-names.js';

export interface Authority {
  readonly pem: string;
  readonly certificate: X509Certificate;
  /** Absent where the owner keeps the key elsewhere; then nothing can be signed here. */
  readonly key: KeyObject | undefined;
}

interface LeafFiles {
  readonly certificate: string;
  readonly key: string;
}

interface LeafKind {
  readonly files: LeafFiles;
  readonly make: (signer: Signer, nowMs: number) => Promise<KeyPairPem>;
  /** Why a sound certificate is still not the one that is wanted. */
  readonly mismatch: (leaf: X509Certificate) => string | undefined;
}

const secretMode = 0o600;
const publicMode = 0o644;

/**
 * The files of `<data directory>/pki`. What is good is used as it is; what has run out or no longer fits is made
 * anew; what is damaged is an error, because the owner may have put it there. An authority's key is never replaced.
 */
export class PkiStore {
  constructor(
    private readonly directory: string,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async loadAuthority(): Promise<Authority> {
    const file = { certificate: this.path('ca.crt'), key: this.path('ca.key') };
    const [certificatePem, storedKey] = await Promise.all([readIfThere(file.certificate), this.readSecret(file.key)]);
    if (storedKey === undefined && certificatePem === undefined) {
      const key = makeKey();
      // Another process may start on the same directory: the first key that is there counts, for both.
      if (!(await createAtomically(file.key, keyPem(key), secretMode))) return this.loadAuthority();
      this.logger.info('made a certificate authority', { file: file.certificate });
      return this.writeAuthority(key);
    }
    const key = storedKey === undefined ? undefined : advised(file, () => parsePrivateKey(storedKey, file.key));
    if (certificatePem === undefined) {
      this.logger.warn('the certificate of the authority was missing, made it from its key', {
        file: file.certificate,
      });
      return this.writeAuthority(key!);
    }
    return this.checkAuthority({ file, pem: certificatePem, key });
  }

  loadServing(authority: Authority, names: ServingNames): Promise<KeyPairPem> {
    return this.loadLeaf(authority, {
      files: { certificate: this.path('apiserver.crt'), key: this.path('apiserver.key') },
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

  loadAdmin(authority: Authority, subject: AdminSubject): Promise<KeyPairPem> {
    return this.loadLeaf(authority, {
      files: { certificate: this.path('admin.crt'), key: this.path('admin.key') },
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

  /** Undefined when there is none yet. */
  async readServiceAccountKey(): Promise<ServiceAccountKey | undefined> {
    const file = this.path('sa.key');
    const privateKey = await this.readSecret(file);
    if (privateKey === undefined) return undefined;
    const publicKey = createPublicKey(parsePrivateKey(privateKey, file)).export({
      type: 'spki',
      format: 'pem',
    }) as string;
    // The public half is a convenience for other servers; what counts is the private one.
    if ((await readIfThere(this.path('sa.pub'))) !== publicKey) {
      await writeAtomically(this.path('sa.pub'), publicKey, publicMode);
    }
    return { privateKey, publicKey };
  }

  async makeServiceAccountKey(): Promise<ServiceAccountKey> {
    const pair = await makeServiceAccountKey();
    const isFirst = await createAtomically(this.path('sa.key'), pair.privateKey, secretMode);
    if (isFirst) await writeAtomically(this.path('sa.pub'), pair.publicKey, publicMode);
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
    if (!certificate.ca)
      throw new CertificateError(`${file.certificate} is not the certificate of an authority: ${advice(file)}`);
    const remainingMs = validToMs(certificate) - this.clock.now();
    if (remainingMs > renewalMs) return { pem, certificate, key };
    // Only one that signed itself can be continued here; others belong to somebody who has to renew them.
    if (key !== undefined && certificate.checkIssued(certificate)) {
      this.logger.warn('renewed the certificate of the authority, with its old key', { file: file.certificate });
      return this.writeAuthority(key, certificate);
    }
    if (remainingMs <= 0)
      throw new CertificateError(`${file.certificate} has expired at ${certificate.validTo}: replace it`);
    this.logger.warn('the certificate of the authority expires soon', {
      file: file.certificate,
      at: certificate.validTo,
    });
    return { pem, certificate, key };
  }

  private async writeAuthority(key: KeyObject, predecessor?: X509Certificate): Promise<Authority> {
    const pem = await makeAuthority(key, this.clock.now(), predecessor);
    await writeAtomically(this.path('ca.crt'), pem, publicMode);
    return { pem, certificate: new X509Certificate(pem), key };
  }

  private async loadLeaf(authority: Authority, kind: LeafKind): Promise<KeyPairPem> {
    const { files } = kind;
    const [certificate, key] = await Promise.all([readIfThere(files.certificate), this.readSecret(files.key)]);
    const pair = certificate === undefined || key === undefined ? undefined : { certificate, key };
    const problem = pair === undefined ? 'it was missing' : this.leafProblem(pair, authority, kind);
    if (problem === undefined) return pair!;
    if (authority.key === undefined) {
      throw new CertificateError(
        `${files.certificate} cannot be used, ${problem}, and without ${this.path('ca.key')} no other can be signed: ` +
          'put that key there, or a certificate and its key',
      );
    }
    const signer = { certificate: authority.certificate, key: authority.key };
    const made = await kind.make(signer, this.clock.now());
    await writeAtomically(files.key, made.key, secretMode);
    await writeAtomically(files.certificate, made.certificate, publicMode);
    this.logger.info('made a certificate', { file: files.certificate, because: problem });
    return made;
  }

  private leafProblem(pair: KeyPairPem, authority: Authority, kind: LeafKind): string | undefined {
    const { files } = kind;
    const [leaf, key] = advised(files, () => {
      return [
        parseCertificates(pair.certificate, files.certificate)[0]!,
        parsePrivateKey(pair.key, files.key),
      ] as const;
    });
    // A stop between the writing of the two files leaves this.
    if (!leaf.checkPrivateKey(key)) return 'its key was another';
    const { certificate: ca } = authority;
    if (!leaf.checkIssued(ca) || !leaf.verify(ca.publicKey)) return `${this.path('ca.crt')} has not signed it`;
    const nowMs = this.clock.now();
    if (validFromMs(leaf) > nowMs) return `it is not valid before ${leaf.validFrom}`;
    // Renewing must help: a leaf never lives longer than its authority, and without the key it has to last.
    const marginMs = authority.key !== undefined && validToMs(leaf) < validToMs(ca) ? renewalMs : 0;
    if (validToMs(leaf) - marginMs <= nowMs) return `it expires at ${leaf.validTo}`;
    return kind.mismatch(leaf);
  }

  private async readSecret(file: string): Promise<string | undefined> {
    const text = await readIfThere(file);
    const access = text === undefined ? 'fine' : await tighten(file, secretMode);
    if (access === 'tightened')
      this.logger.warn('other users could read a private key, took their rights away', { file });
    if (access === 'exposed') this.logger.warn('other users can read a private key', { file });
    return text;
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
  return `restore it from a backup, or remove both ${certificate} and ${key} to have new ones made${consequence}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

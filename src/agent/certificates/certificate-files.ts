import { createPrivateKey, generateKeyPairSync, X509Certificate, type KeyObject } from 'node:crypto';
import { lstat, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CertificateError, reasonOf } from '../../certificates/certificate-error.js';
import { parseServingPair, type KeyPairPem } from '../../certificates/pem.js';
import {
  createAtomically,
  makePrivateDirectory,
  readIfThere,
  temporaryPath,
} from '../../certificates/private-files.js';

export interface StoredPair extends KeyPairPem {
  readonly leaf: X509Certificate;
  /** Time at which the file was written, by the clock of the file system. */
  readonly writtenMs: number;
}

/** Names that are tried for a new file: one second, or a clock that was set back. */
const namesMax = 100;

/**
 * The certificate of a node with its key, in the files of a kubelet:
 *
 *   kubelet-client-2026-01-02-03-04-05.pem   a certificate and its key, never changed
 *   kubelet-client-current.pem               symbolic link to the newest one
 *   kubelet-client.key.tmp                   key of a certificate that is requested
 *
 * A new certificate gets a new file; only the symbolic link is replaced.
 */
export class CertificateFiles {
  readonly currentPath: string;
  private readonly keyPath: string;

  constructor(
    private readonly directory: string,
    /** `kubelet-client` */
    private readonly pairName: string,
  ) {
    this.currentPath = join(directory, `${pairName}-current.pem`);
    this.keyPath = join(directory, `${pairName}.key.tmp`);
  }

  /** Returns the current pair; undefined if there is none. Rejects if it cannot be used. */
  async current(): Promise<StoredPair | undefined> {
    const pem = await readIfThere(this.currentPath);
    if (pem === undefined) return undefined;
    const files = { certificate: this.currentPath, key: this.currentPath };
    const pair = parseServingPair({ certificate: pem, key: pem }, files);
    const { mtimeMs } = await stat(this.currentPath);
    return { ...pair, leaf: new X509Certificate(pem), writtenMs: mtimeMs };
  }

  /** Returns the key of the running request, or a new one; it is kept over restarts, so that a request is sent once. */
  async pendingKey(): Promise<KeyObject> {
    for (;;) {
      const pem = await readIfThere(this.keyPath);
      const key = pem === undefined ? undefined : keyIn(pem);
      if (key) return key;
      // A damaged file is of a crash; the name is the agent's own.
      if (pem !== undefined) await rm(this.keyPath, { force: true });
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      await makePrivateDirectory(this.directory);
      await createAtomically(this.keyPath, privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, 0o600);
    }
  }

  /** Forgets the key of a request that cannot be used any more. */
  async discardPendingKey(): Promise<void> {
    await rm(this.keyPath, { force: true });
  }

  /** Writes a new file and makes it the current one. Rejects if the name of the symbolic link is that of a file. */
  async replace(certificate: string, key: KeyObject, nowMs: number): Promise<StoredPair> {
    await this.checkLink();
    const text = `${certificate.trim()}\n${key.export({ type: 'pkcs8', format: 'pem' }) as string}`;
    const file = await this.create(text, nowMs);
    parseServingPair({ certificate: text, key: text }, { certificate: file, key: file });
    await this.link(file);
    await this.discardPendingKey();
    return (await this.current())!;
  }

  /** Rejects if the current path is a file or a link to another directory, which the agent has not made. */
  async checkLink(): Promise<void> {
    const found = await lstat(this.currentPath).catch(() => undefined);
    if (!found) return;
    const isOwn = found.isSymbolicLink() && this.isOwnTarget(await readlink(this.currentPath));
    if (isOwn) return;
    throw new CertificateError(
      `${this.currentPath} is not a symbolic link to a file of the agent, and is not overwritten; move it away, or choose another --cert-dir`,
    );
  }

  private isOwnTarget(target: string): boolean {
    const isDated = new RegExp(`^${this.pairName}-[0-9-]+\\.pem$`).test(basename(target));
    return isDated && (dirname(target) === '.' || join(dirname(target)) === join(this.directory));
  }

  /** Writes a new file, named by the time. */
  private async create(text: string, nowMs: number): Promise<string> {
    await makePrivateDirectory(this.directory);
    for (let second = 0; second < namesMax; second++) {
      const time = new Date(nowMs + second * 1000).toISOString().slice(0, 19).replace(/[T:]/g, '-');
      const file = join(this.directory, `${this.pairName}-${time}.pem`);
      if (await createAtomically(file, text, 0o600)) return file;
    }
    throw new CertificateError(
      `${this.directory} has a file for each of the next ${namesMax} seconds; remove old ones`,
    );
  }

  private async link(file: string): Promise<void> {
    const temporary = temporaryPath(this.currentPath);
    try {
      await symlink(basename(file), temporary);
      await rename(temporary, this.currentPath);
    } catch (error) {
      await rm(temporary, { force: true });
      throw new CertificateError(`cannot write ${this.currentPath}: ${reasonOf(error)}`, { cause: error });
    }
  }
}

function keyIn(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined;
  } catch {
    return undefined;
  }
}

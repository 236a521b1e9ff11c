import { randomBytes } from 'node:crypto';
import { link, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { ClientError, codeOf, reasonOf } from '../kubeconfig-client/client-error.js';

const chunkBytes = 1024 * 1024;

/** Writes a file that only its owner can read, and that appears when it is whole. */
export class NewFile {
  private chunks: Buffer[] = [];
  private length = 0;

  private constructor(
    private readonly path: string,
    private readonly temporary: string,
    private readonly handle: FileHandle,
  ) {}

  static async create(path: string): Promise<NewFile> {
    const temporary = `${path}.${randomBytes(6).toString('hex')}.part`;
    try {
      return new NewFile(path, temporary, await open(temporary, 'wx', 0o600));
    } catch (error) {
      throw fileError(path, 'written', error);
    }
  }

  async write(bytes: Buffer): Promise<void> {
    this.chunks.push(bytes);
    this.length += bytes.length;
    if (this.length >= chunkBytes) await this.flush();
  }

  /** Puts the file in its place. An existing file is replaced only if the caller has checked that it may be. */
  async finish({ replaces }: { readonly replaces: boolean }): Promise<void> {
    try {
      await this.flush();
      await this.handle.sync();
      await this.handle.close();
      if (replaces) return await rename(this.temporary, this.path);
      await link(this.temporary, this.path);
      await rm(this.temporary, { force: true });
    } catch (error) {
      throw codeOf(error) === 'EEXIST' ? existsError(this.path) : fileError(this.path, 'written', error);
    }
  }

  /** Removes what was written. */
  async discard(): Promise<void> {
    await this.handle.close().catch(() => undefined);
    await rm(this.temporary, { force: true });
  }

  private async flush(): Promise<void> {
    const bytes = Buffer.concat(this.chunks);
    this.chunks = [];
    this.length = 0;
    try {
      if (bytes.length > 0) await this.handle.writeFile(bytes);
    } catch (error) {
      throw fileError(this.path, 'written', error);
    }
  }
}

export const existsError = (path: string): ClientError =>
  new ClientError('Kubeconfig', `${path} exists already; name another file, or give --force`);

export const fileError = (path: string, what: 'read' | 'written', error: unknown): ClientError =>
  new ClientError('Kubeconfig', `${path} cannot be ${what}: ${reasonOf(error)}`, { cause: error });

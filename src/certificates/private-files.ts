import { randomBytes } from 'node:crypto';
import { link, lstat, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as privatePaths from '../std/private-paths.js';
import { CertificateError, reasonOf } from './certificate-error.js';

/** Files with secrets: written atomically, and readable by their owner only. */

/** Creates the directory and missing parent directories with mode 0700. Does not change an existing directory. */
export async function makePrivateDirectory(directory: string): Promise<void> {
  await orExplain(`cannot create the directory ${directory}`, async () => privatePaths.makePrivateDirectory(directory));
}

/** Reads a file; returns undefined if it does not exist. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new CertificateError(`cannot read ${file}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Replaces the file and creates its directory. A crash leaves the old or the new contents. */
export async function writeAtomically(file: string, text: string, mode: number): Promise<void> {
  await makePrivateDirectory(dirname(file));
  await orExplain(`cannot write ${file}`, async () => {
    const temporary = await writeBeside(file, text, mode);
    await rename(temporary, file).catch(async (error: unknown) => {
      await rm(temporary, { force: true });
      throw error;
    });
  });
}

/** Creates the file and returns true; returns false without a change if it exists. */
export async function createAtomically(file: string, text: string, mode: number): Promise<boolean> {
  return orExplain(`cannot write ${file}`, async () => {
    const temporary = await writeBeside(file, text, mode);
    try {
      await link(temporary, file);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(temporary, { force: true });
    }
  });
}

/** Returns the path under which the new content of a file is written before it is renamed. */
export const temporaryPath = (file: string): string => `${file}.${randomBytes(6).toString('hex')}.tmp`;
const temporaryName = /^(.+)\.[0-9a-f]{12}\.tmp$/;

/**
 * Removes the temporary files that a killed process has left in a directory while it wrote files of these names. Removes
 * nothing but files and symbolic links of this user with a name by temporaryPath().
 */
export async function removeInterruptedWrites(
  directory: string,
  isWritten: (name: string) => boolean,
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const name of await readdir(directory).catch(() => [])) {
    const written = temporaryName.exec(name)?.[1];
    if (written === undefined || !isWritten(written)) continue;
    const path = join(directory, name);
    const found = await lstat(path).catch(() => undefined);
    if (!found || found.uid !== process.getuid?.() || !(found.isFile() || found.isSymbolicLink())) continue;
    await orExplain(`cannot remove ${path}`, () => rm(path, { force: true }));
    removed.push(path);
  }
  return removed;
}

async function writeBeside(file: string, text: string, mode: number): Promise<string> {
  const temporary = temporaryPath(file);
  const handle = await open(temporary, 'wx', mode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return temporary;
}

/** Runs an action; wraps its errors in a CertificateError that begins with `what`. */
export async function orExplain<T>(what: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof CertificateError) throw error;
    throw new CertificateError(`${what}: ${reasonOf(error)}`, { cause: error });
  }
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | undefined)?.code;
}

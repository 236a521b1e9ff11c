import { open, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { listRotatedFiles, type RotatedFile } from '../audit/rotated-files.js';
import { ClientError, reasonOf } from '../kubeconfig-client/client-error.js';

/** Longer lines are skipped: an object has at most 3 MiB, and an event two of them. */
const lineBytesMax = 16 * 1024 * 1024;
const newline = 10;

interface Slice {
  /** Rotated files that end before are not read. */
  readonly sinceMs: number;
  /** Gets a rotated file that cannot be read to its end. */
  readonly damaged: (path: string, reason: string) => void;
}

/**
 * Yields the lines of an audit log and of its rotated files, which may be compressed, the oldest first. The log is opened
 * before the directory is listed: a log that is rotated meanwhile is read once.
 */
export async function* auditLogLines(path: string, { sinceMs, damaged }: Slice): AsyncGenerator<Buffer> {
  const log = await open(path).catch((error: unknown) => {
    throw new ClientError('Kubeconfig', `the audit log ${path} cannot be read: ${reasonOf(error)}`, { cause: error });
  });
  try {
    const { ino, dev } = await log.stat();
    for (const rotated of await rotatedSince(path, sinceMs)) {
      try {
        const { file, isCompressed } = await openRotated(rotated);
        const stat = await file.stat();
        const isLog = stat.ino === ino && stat.dev === dev;
        if (isLog) await file.close();
        else yield* linesOf(contentOf(file, isCompressed));
      } catch (error) {
        damaged(rotated.path, reasonOf(error));
      }
    }
    yield* linesOf(log.createReadStream({ autoClose: false }));
  } catch (error) {
    throw new ClientError('Kubeconfig', `the audit log ${path} cannot be read: ${reasonOf(error)}`, { cause: error });
  } finally {
    await log.close();
  }
}

/** Returns the rotated files, the oldest first. Of a file whose compression is not complete the plain one is read. */
async function rotatedSince(path: string, sinceMs: number): Promise<RotatedFile[]> {
  const files = (await listRotatedFiles(path)).filter(({ timeMs }) => timeMs >= sinceMs).reverse();
  const plainTimes = new Set(files.filter(({ isCompressed }) => !isCompressed).map(({ timeMs }) => timeMs));
  return files.filter(({ isCompressed, timeMs }) => !isCompressed || !plainTimes.has(timeMs));
}

async function openRotated({ path, isCompressed }: RotatedFile) {
  try {
    return { file: await open(path), isCompressed };
  } catch (error) {
    if (isCompressed || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // It has been compressed since the directory was listed.
    return { file: await open(`${path}.gz`), isCompressed: true };
  }
}

function contentOf(file: FileHandle, isCompressed: boolean): AsyncIterable<Buffer> {
  const bytes = file.createReadStream();
  // The reader of the content gets an error of either.
  return isCompressed ? pipeline(bytes, createGunzip(), () => undefined) : bytes;
}

async function* linesOf(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let length = 0;
  for await (let chunk of content) {
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline)) {
      length += end;
      if (length <= lineBytesMax)
        yield chunks.length === 0 ? chunk.subarray(0, end) : Buffer.concat([...chunks, chunk.subarray(0, end)]);
      chunks = [];
      length = 0;
      chunk = chunk.subarray(end + 1);
    }
    length += chunk.length;
    if (length > lineBytesMax) chunks = [];
    else if (chunk.length > 0) chunks.push(chunk);
  }
  if (length > 0 && length <= lineBytesMax) yield Buffer.concat(chunks);
}

import { open, type FileHandle } from 'node:fs/promises';
import { encodeJson } from '../codec/json.js';
import { codeOf, reasonOf } from '../kubeconfig-client/client-error.js';
import { lineBytesMax, recordingHeader, RecordingError, type RecordingLine } from './recording-lines.js';

/** Writes lines in the order of the calls. */
export class RecordingFile {
  private last: Promise<void> = Promise.resolve();
  private failure: RecordingError | undefined;

  private constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
  ) {}

  /** Creates the file, with access for its owner alone. An existing file is replaced only if it is a recording. */
  static async create(path: string): Promise<RecordingFile> {
    try {
      const handle = await open(path, 'wx', ownerOnly).catch((error: unknown) => {
        if (codeOf(error) !== 'EEXIST') throw error;
        return openRecording(path);
      });
      await handle.write(`${recordingHeader}\n`);
      return new RecordingFile(path, handle);
    } catch (error) {
      if (error instanceof RecordingError) throw error;
      throw new RecordingError(`${path} cannot be written: ${reasonOf(error)}`);
    }
  }

  /** Resolves when the line is in the file, so that callers that wait bound the memory. Never rejects; see close(). */
  write(line: RecordingLine): Promise<void> {
    this.last = this.last.then(async () => {
      if (this.failure) return;
      try {
        const bytes = encodeJson(line);
        if (bytes.length >= lineBytesMax) throw new Error(`a line has more than ${lineBytesMax} bytes`);
        await this.handle.appendFile(Buffer.concat([bytes, newline]));
      } catch (error) {
        this.failure = new RecordingError(`${this.path} cannot be written: ${reasonOf(error)}`);
      }
    });
    return this.last;
  }

  /** Rejects if a line could not be written. */
  async close(): Promise<void> {
    await this.last;
    await this.handle.close();
    if (this.failure) throw this.failure;
  }
}

/** Reading a pipe would wait for its writer. */
async function isRecording(handle: FileHandle): Promise<boolean> {
  if (!(await handle.stat()).isFile()) return false;
  const length = recordingHeader.length + 1;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
  return buffer.toString('utf8', 0, bytesRead) === `${recordingHeader}\n`;
}

const ownerOnly = 0o600;
const newline = Buffer.from('\n');

/** Opens a recording and empties it. */
async function openRecording(path: string): Promise<FileHandle> {
  const handle = await open(path, 'r+');
  try {
    if (!(await isRecording(handle))) {
      throw new RecordingError(`${path} exists and is not a recording; remove it or choose another file`);
    }
    await handle.chmod(ownerOnly);
    await handle.truncate(0);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

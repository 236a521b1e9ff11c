import { constants, type Stats } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';

const chunkBytes = 64 * 1024;
/** A line of the CRI is 16 KiB and its head. Bytes of a longer one are left out. */
const lineBytesMax = 1024 * 1024;
const lineFeed = 0x0a;

/** A log file that grows and may be replaced by another one of the same path. */
export class LogFile {
  private position = 0;
  private rest: Buffer = Buffer.alloc(0);

  private constructor(
    private readonly path: string,
    private handle: FileHandle,
    private inode: number,
  ) {}

  /** Rejects if the path is not a file. */
  static async open(path: string): Promise<LogFile> {
    const { handle, stats } = await openFile(path);
    return new LogFile(path, handle, stats.ino);
  }

  /** Continues `count` lines before the end. */
  async seekTail(count: number): Promise<void> {
    const { size } = await this.handle.stat();
    let found = 0;
    const buffer = Buffer.allocUnsafe(chunkBytes);
    for (let end = size; end > 0;) {
      const start = Math.max(0, end - chunkBytes);
      const { bytesRead } = await this.handle.read(buffer, 0, end - start, start);
      for (let at = bytesRead - 1; at >= 0; at--) {
        // The line feed at the end of the file ends the last line.
        if (buffer[at] !== lineFeed || start + at === size - 1) continue;
        if (++found === count) {
          this.position = start + at + 1;
          return;
        }
      }
      end = start;
    }
    this.position = count === 0 ? size : 0;
  }

  /** Returns the next complete lines; none at the end of the file. */
  async lines(): Promise<Buffer[]> {
    for (;;) {
      const buffer = Buffer.allocUnsafe(chunkBytes);
      const { bytesRead } = await this.handle.read(buffer, 0, chunkBytes, this.position);
      if (bytesRead === 0) return [];
      this.position += bytesRead;
      const lines = this.split(buffer.subarray(0, bytesRead));
      if (lines.length > 0) return lines;
    }
  }

  /** True if the path has another file, which is then opened at its beginning, or this one was truncated. */
  async hasRotated(): Promise<boolean> {
    const current = await stat(this.path).catch(() => undefined);
    if (!current?.isFile()) return false;
    if (current.ino === this.inode && current.size >= this.position) return false;
    const { handle, stats } = await openFile(this.path);
    await this.handle.close();
    [this.handle, this.inode, this.position, this.rest] = [handle, stats.ino, 0, Buffer.alloc(0)];
    return true;
  }

  close(): Promise<void> {
    return this.handle.close();
  }

  private split(chunk: Buffer): Buffer[] {
    const bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, start)) {
      lines.push(bytes.subarray(start, end));
      start = end + 1;
    }
    const rest = bytes.subarray(start);
    this.rest = rest.length > lineBytesMax ? rest.subarray(0, 1) : Buffer.from(rest);
    return lines;
  }
}

/** Opens a file for reading; anything else, such as a pipe that nobody writes to, is refused without waiting for it. */
async function openFile(path: string): Promise<{ readonly handle: FileHandle; readonly stats: Stats }> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await handle.stat();
  if (stats.isFile()) return { handle, stats };
  await handle.close();
  throw new Error(`${path} is not a file`);
}

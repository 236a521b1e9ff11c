import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

const compressedSuffix = '.gz';
const dayMs = 86_400_000;

interface Options {
  readonly path: string;
  readonly compresses: boolean;
  /** 0: no bound. */
  readonly daysMax: number;
  readonly filesMax: number;
}

export interface RotatedFile {
  readonly path: string;
  /** The time of the rotation, after that of all its events. */
  readonly timeMs: number;
  readonly isCompressed: boolean;
}

/** Returns the rotated files of a log in its directory, the newest first. */
export async function listRotatedFiles(path: string): Promise<RotatedFile[]> {
  const directory = dirname(path);
  const extension = extname(path);
  const prefix = `${basename(path, extension)}-`;
  const files: RotatedFile[] = [];
  for (const name of await readdir(directory)) {
    const isCompressed = name.endsWith(compressedSuffix);
    const plain = isCompressed ? name.slice(0, -compressedSuffix.length) : name;
    if (!plain.startsWith(prefix) || !plain.endsWith(extension)) continue;
    const timeMs = timeOf(plain.slice(prefix.length, plain.length - extension.length));
    if (timeMs !== undefined) files.push({ path: join(directory, name), timeMs, isCompressed });
  }
  return files.sort((a, b) => b.timeMs - a.timeMs);
}

/** The rotated files of a log, named as lumberjack names them: `audit-2026-01-01T00-00-00.000.log`, with `.gz` if compressed. */
export class RotatedFiles {
  private readonly directory: string;
  private readonly prefix: string;
  private readonly extension: string;
  /** The time in the last name: names are in the order of rotations, also if older files are removed meanwhile. */
  private lastMs = -Infinity;

  constructor(private readonly options: Options) {
    this.directory = dirname(options.path);
    this.extension = extname(options.path);
    this.prefix = `${basename(options.path, this.extension)}-`;
  }

  /** Returns a name that no file has yet; two rotations in one millisecond must not replace a file. */
  async nextPath(nowMs: number): Promise<string> {
    const taken = new Set(await readdir(this.directory));
    for (let timeMs = Math.max(nowMs, this.lastMs + 1); ; timeMs++) {
      const name = `${this.prefix}${timeText(timeMs)}${this.extension}`;
      if (taken.has(name) || taken.has(name + compressedSuffix)) continue;
      this.lastMs = timeMs;
      return join(this.directory, name);
    }
  }

  /** Removes files beyond the bounds, and compresses the others. */
  async tidy(nowMs: number): Promise<void> {
    const { filesMax, daysMax, compresses } = this.options;
    const files = await listRotatedFiles(this.options.path);
    const times = [...new Set(files.map(({ timeMs }) => timeMs))];
    const keptTimes = new Set(filesMax > 0 ? times.slice(0, filesMax) : times);
    const oldestMs = daysMax > 0 ? nowMs - daysMax * dayMs : -Infinity;
    for (const { path, timeMs, isCompressed } of files) {
      if (!keptTimes.has(timeMs) || timeMs < oldestMs) await unlink(path);
      else if (compresses && !isCompressed) await compress(path);
    }
  }
}

/** Replaces the file by a compressed one. A file that an interrupted compression left is written anew. */
async function compress(path: string): Promise<void> {
  const { mode } = await stat(path);
  const target = path + compressedSuffix;
  try {
    await pipeline(createReadStream(path), createGzip(), createWriteStream(target, { mode: mode & 0o777 }));
  } catch (error) {
    await unlink(target).catch(() => undefined);
    throw error;
  }
  await unlink(path);
}

/** `2026-01-01T00-00-00.000` */
function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, -1).replaceAll(':', '-');
}

const timePattern = /^(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3})$/;

function timeOf(text: string): number | undefined {
  const match = timePattern.exec(text);
  if (!match) return undefined;
  const timeMs = Date.parse(`${match[1]}${match[2]}:${match[3]}:${match[4]}Z`);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packageRoot } from '../config/config-files.js';

/** A file of the web console, ready to be sent. */
export interface ConsoleFile {
  readonly contentType: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  /** Entity tag of the plain bytes, without quotes; that of the compressed bytes ends with `-gzip`. */
  readonly tag: string;
}

export const consolePath = '/console/';

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The files of the package's console/ directory by their URL path. A path that is not in this map is not served, whatever
 * its spelling is; so no path of a client reaches the file system. Read at the first request, for a fast start.
 */
export class ConsoleFiles {
  private files: ReadonlyMap<string, ConsoleFile> | undefined;

  constructor(private readonly directory = join(packageRoot, 'console')) {}

  get(path: string): ConsoleFile | undefined {
    this.files ??= readFiles(this.directory);
    return this.files.get(path);
  }
}

function readFiles(directory: string): Map<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>();
  for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const contentType = contentTypes[extname(entry)];
    if (contentType === undefined) continue;
    const name = entry.replaceAll('\\', '/');
    const plain = readFileSync(join(directory, entry));
    const tag = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
    files.set(name === 'index.html' ? consolePath : `${consolePath}${name}`, {
      contentType,
      plain,
      gzipped: gzipSync(plain),
      tag,
    });
  }
  return files;
}

import { createHash } from 'node:crypto';
import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { orExplain, readIfThere } from './private-files.js';

/** Lines of sha256sum: `<digest>  <name>`. `sha256sum -c` tells which files are still as they were made. */
const recordName = '.made-by-keelson';

/**
 * The record of the files that this server made in a directory. A file whose contents are not in it belongs to the
 * user and is never written over. Lines are only appended, in one write each, so that several processes may do so.
 */
export class MadeFiles {
  private constructor(
    private readonly directory: string,
    private readonly lines: Set<string>,
  ) {}

  static async read(directory: string): Promise<MadeFiles> {
    const text = (await readIfThere(join(directory, recordName))) ?? '';
    return new MadeFiles(directory, new Set(text.split('\n')));
  }

  has(name: string, contents: string): boolean {
    return this.lines.has(lineOf(name, contents));
  }

  /** To be awaited before the file is written: a crash in between leaves a line without a file, which is harmless. */
  async add(name: string, contents: string): Promise<void> {
    const line = lineOf(name, contents);
    const file = join(this.directory, recordName);
    await orExplain(`cannot write ${file}`, () => appendFile(file, `${line}\n`, { mode: 0o600 }));
    this.lines.add(line);
  }
}

const secretNames = ['admin.key', 'apiserver.key', 'ca.key', 'sa.key'];
const publicNames = ['admin.crt', 'apiserver.crt', 'ca.crt', 'sa.pub'];

/** The secrets of a directory that are still as this server made them, and whether the directory holds nothing else. */
export async function madeSecrets(directory: string): Promise<{ files: string[]; isWholeDirectory: boolean }> {
  const entries: string[] = await readdir(directory).catch(() => []);
  if (!entries.includes(recordName)) return { files: [], isWholeDirectory: false };
  const made = await MadeFiles.read(directory);
  const isMade = async (name: string) => made.has(name, (await readIfThere(join(directory, name))) ?? '');
  const own = [recordName];
  for (const name of entries)
    if ([...secretNames, ...publicNames].includes(name) && (await isMade(name))) own.push(name);
  return {
    files: own.filter((name) => !publicNames.includes(name)).map((name) => join(directory, name)),
    isWholeDirectory: own.length === entries.length,
  };
}

function lineOf(name: string, contents: string): string {
  return `${createHash('sha256').update(contents).digest('hex')}  ${name}`;
}

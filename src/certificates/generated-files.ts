import { createHash } from 'node:crypto';
import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { orExplain, readIfThere } from './private-files.js';

/** File with lines in the format of sha256sum, `<digest>  <name>`: `sha256sum -c` shows which files are unchanged. */
const recordName = '.made-by-keelson';

/**
 * Record of the files that this server generated in a directory. A file whose digest is not in it belongs to the user
 * and is never overwritten. Lines are only appended, each in one write, so that several processes can share the record.
 */
export class GeneratedFiles {
  private constructor(
    private readonly directory: string,
    private readonly lines: Set<string>,
  ) {}

  static async read(directory: string): Promise<GeneratedFiles> {
    const text = (await readIfThere(join(directory, recordName))) ?? '';
    return new GeneratedFiles(directory, new Set(text.split('\n')));
  }

  has(name: string, contents: string): boolean {
    return this.lines.has(lineOf(name, contents));
  }

  /** Adds a file. Must be awaited before the file is written: a crash in between leaves a line without a file. */
  async add(name: string, contents: string): Promise<void> {
    const line = lineOf(name, contents);
    const file = join(this.directory, recordName);
    await orExplain(`cannot write ${file}`, () => appendFile(file, `${line}\n`, { mode: 0o600 }));
    this.lines.add(line);
  }
}

const proxyNames = (extension: 'crt' | 'key') => ['ca', 'client'].map((name) => `front-proxy-${name}.${extension}`);
const secretNames = ['admin.key', 'apiserver.key', 'ca.key', 'sa.key', ...proxyNames('key')];
const publicNames = ['admin.crt', 'apiserver.crt', 'ca.crt', 'sa.pub', ...proxyNames('crt')];

/** Returns the unchanged generated secrets of a directory. isWholeDirectory: it contains only generated files. */
export async function generatedSecrets(directory: string): Promise<{ files: string[]; isWholeDirectory: boolean }> {
  const entries: string[] = await readdir(directory).catch(() => []);
  if (!entries.includes(recordName)) return { files: [], isWholeDirectory: false };
  const generated = await GeneratedFiles.read(directory);
  const isGenerated = async (name: string) => generated.has(name, (await readIfThere(join(directory, name))) ?? '');
  const own = [recordName];
  for (const name of entries)
    if ([...secretNames, ...publicNames].includes(name) && (await isGenerated(name))) own.push(name);
  return {
    files: own.filter((name) => !publicNames.includes(name)).map((name) => join(directory, name)),
    isWholeDirectory: own.length === entries.length,
  };
}

function lineOf(name: string, contents: string): string {
  return `${createHash('sha256').update(contents).digest('hex')}  ${name}`;
}

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/config/config-files.js';
import { asCommand, print } from './as-command.js';
import { goPackages } from './catalog/go-packages.js';
import { makeCatalog } from './catalog/make-catalog.js';
import { makeTypes } from './catalog/make-types.js';
import { readOptions, UsageError } from './read-options.js';

const help = `node dist/scripts/gen-catalog.js [options]

Writes src/catalog/data, the facts of all built-in types, from the published Go packages, and src/catalog/types, the
TypeScript types, from src/catalog/data. Comments are not copied. The packages are fetched into .cache/go-packages.

  --types   writes only the types
  --fetch   only fetches the packages, for the tests that compare with them
  --help    prints this help`;

const data = join(packageRoot, 'src/catalog/data');

async function main(words: readonly string[]): Promise<number> {
  const values = readOptions(words, {
    types: { type: 'boolean', default: false },
    fetch: { type: 'boolean', default: false },
  });
  if (values.types && values.fetch) throw new UsageError('--types and --fetch exclude each other');
  if (!values.types) {
    print('fetching the packages of Go types, unless they are in .cache/go-packages');
    const { sources, provenance } = await goPackages();
    print(provenance);
    if (values.fetch) return 0;
    replaceFiles(data, makeCatalog(sources, provenance));
  }
  replaceFiles(join(packageRoot, 'src/catalog/types'), makeTypes(data));
  return 0;
}

function replaceFiles(folder: string, files: ReadonlyMap<string, string>): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (!files.has(name)) rmSync(join(folder, name));
  let changed = 0;
  let bytes = 0;
  for (const [name, text] of files) {
    const file = join(folder, name);
    bytes += text.length;
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
    writeFileSync(file, text);
    changed++;
  }
  print(`${folder}: ${files.size} files, ${bytes} bytes, ${changed} changed`);
}

asCommand(import.meta.url, { help, run: main, showsStack: true });

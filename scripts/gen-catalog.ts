import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/config/config-files.js';
import { goPackages } from './catalog/go-packages.js';
import { makeCatalog } from './catalog/make-catalog.js';
import { makeTypes } from './catalog/make-types.js';

/**
 * Writes src/catalog/data, the facts of all built-in types, from the published Go packages, and src/catalog/types, the
 * TypeScript types, from src/catalog/data. Comments are not copied. With `--types` it only writes the types. With
 * `--fetch` it only fetches the packages, for the tests that compare with them.
 */
const data = join(packageRoot, 'src/catalog/data');
if (!process.argv.includes('--types')) {
  process.stdout.write('fetching the packages of Go types, unless they are in .cache/go-packages\n');
  const { sources, provenance } = await goPackages();
  process.stdout.write(`${provenance}\n`);
  if (!process.argv.includes('--fetch')) replaceFiles(data, makeCatalog(sources, provenance));
}
if (!process.argv.includes('--fetch')) replaceFiles(join(packageRoot, 'src/catalog/types'), makeTypes(data));

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
  process.stdout.write(`${folder}: ${files.size} files, ${bytes} bytes, ${changed} changed\n`);
}

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/config/config-files.js';
import { goPackages } from './catalog/go-packages.js';
import { makeCatalog } from './catalog/make-catalog.js';

/**
 * Writes src/catalog/data: the facts of all built-in types, from the published Go packages. Only facts are kept, no
 * prose. With `--fetch` it only fetches the packages, for the tests that compare with them.
 */
process.stdout.write('fetching the packages of Go types, unless they are in .cache/go-packages\n');
const { sources, provenance } = await goPackages();
process.stdout.write(`${provenance}\n`);
if (!process.argv.includes('--fetch')) {
  const folder = join(packageRoot, 'src/catalog/data');
  mkdirSync(folder, { recursive: true });
  const files = makeCatalog(sources, provenance);
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
  process.stdout.write(`${files.size} files, ${bytes} bytes, ${changed} changed\n`);
}

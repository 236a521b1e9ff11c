// Copies the embedded store and the keys of a server while it runs:
//
//   node backup.mjs DATA_DIRECTORY TARGET_DIRECTORY
//
// Run it as the user of the server, or as root. LMDB copies the state of one moment in a read transaction, which delays
// no writer; a plain copy of the file of a running server may be unusable. The target must not exist. It is a data
// directory: check it with `keelson check --data-dir TARGET_DIRECTORY`, and restore it by giving it to a server.
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { metaKeys } from '../dist/src/storage/backends/embedded/records.js';

const [source, target, ...more] = process.argv.slice(2);

function fail(line) {
  process.stderr.write(`backup: ${line}\n`);
  process.exit(1);
}

if (target === undefined || more.length > 0) fail('usage: node backup.mjs DATA_DIRECTORY TARGET_DIRECTORY');
if (!existsSync(join(source, 'store/data.mdb'))) fail(`${source} has no embedded store`);
if (existsSync(target)) fail(`${target} exists already; name a new directory`);

const options = { encoding: 'binary', keyEncoding: 'binary', noSubdir: false, maxReaders: 512, overlappingSync: false };
process.umask(0o077);
try {
  mkdirSync(join(target, 'store'), { recursive: true, mode: 0o700 });
  const database = open({ ...options, path: join(source, 'store'), readOnly: true });
  await database.backup(join(target, 'store'), false);
  await database.close();
  // The copy belongs to no process.
  const copy = open({ ...options, path: join(target, 'store') });
  await copy.remove(metaKeys.owner);
  await copy.flushed;
  await copy.close();
  if (existsSync(join(source, 'pki'))) cpSync(join(source, 'pki'), join(target, 'pki'), { recursive: true });
} catch (error) {
  rmSync(target, { recursive: true, force: true });
  fail(`${source} could not be copied to ${target}: ${error.message}`);
}
process.stdout.write(`copied ${source} to ${target}\n`);

import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { packageRoot } from '../src/config/config-files.js';
import { asCommand } from './as-command.js';
import { installEtcd } from './etcd/install-etcd.js';
import { readOptions } from './read-options.js';

const help = `node dist/scripts/etcd.js [options]

Prints the path of a real etcd for tests and developers. Searches KEELSON_ETCD, .cache/etcd and PATH. Exits with 1 if there
is none.

  --install   installs one from Debian's packages into .cache/etcd if none is found
  --help      prints this help`;

/** Returns the path of an etcd that can be run, if there is one. */
export function findEtcd(): string | undefined {
  const chosen = process.env['KEELSON_ETCD'];
  if (chosen) {
    if (!isExecutable(chosen)) throw new Error(`KEELSON_ETCD is ${chosen}, which is not executable`);
    return chosen;
  }
  const installed = existsSync(cacheFolder()) ? readdirSync(cacheFolder()).sort().reverse() : [];
  const candidates = [
    ...installed.map((suite) => join(cacheFolder(), suite, 'root/usr/bin/etcd')),
    ...(process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'etcd')),
  ];
  return candidates.find(isExecutable);
}

/** Returns an etcd that is found, or installs one from Debian's packages. Reports its steps on stderr. */
export async function ensureEtcd(): Promise<string> {
  return findEtcd() ?? (await installEtcd(cacheFolder(), (line) => process.stderr.write(`etcd: ${line}\n`)));
}

export const howToGetEtcd =
  'set KEELSON_ETCD to an etcd binary, or run `npm run build && node dist/scripts/etcd.js --install` on a Debian-like system';

function cacheFolder(): string {
  return join(packageRoot, '.cache/etcd');
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function main(words: readonly string[]): Promise<number> {
  const { install } = readOptions(words, { install: { type: 'boolean', default: false } });
  const path = install ? await ensureEtcd() : findEtcd();
  if (path === undefined) {
    process.stderr.write(`no etcd was found: ${howToGetEtcd}\n`);
    return 1;
  }
  process.stdout.write(`${path}\n`);
  return 0;
}

asCommand(import.meta.url, { help, run: main });

import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startErrorLine } from './assembly/start-error.js';
import { stringifyJson } from './codec/json.js';
import { loadConfig } from './config/load-config.js';
import { revisionOf } from './machinery/revision.js';
import { systemClock } from './std/clock.js';
import { copyStore, revertStore } from './storage/backends/embedded/copy-store.js';
import { dataFile } from './storage/backends/embedded/store-files.js';

export interface ForkOptions {
  readonly to?: string;
  readonly at?: string;
}

interface Output {
  write(text: string): unknown;
}

/** Defaults of a fork, which stand before a --config file: it must not take the port of the original. */
const ownDefaults = ['--storage-backend=embedded', '--secure-port=0', '--bind-address=127.0.0.1'];

/**
 * Copies the store and the keys of --data-dir. Returns the flags of the server on the copy; undefined after an error.
 * Without `to` the copy is removed when the process ends.
 */
export async function prepareFork(
  words: readonly string[],
  { to, at }: ForkOptions,
  { stderr }: { readonly stderr: Output },
): Promise<string[] | undefined> {
  const fail = (line: string) => void stderr.write(`keelson fork: ${line}\n`);
  const loaded = loadConfig([...ownDefaults, ...words], process.env, { defaults: 'keelson' });
  if (loaded.errors) return fail(`${loaded.errors.join('; ')}; see keelson fork --help`);
  if (at !== undefined && !/^[1-9]\d{0,15}$/.test(at))
    return fail(`--at: ${stringifyJson(at)} is not a resourceVersion`);
  const source = resolve(loaded.config.storage.dataDirectory);
  const keys = resolve(loaded.config.serving.certDirectory);
  const target = resolve(to ?? `${source}.fork-${randomBytes(4).toString('hex')}`);
  if (!existsSync(join(source, 'store', dataFile))) return fail(`${source} has no embedded store; give --data-dir`);
  if (existsSync(target)) return fail(`--to: ${target} exists already; name a new directory`);
  const beginMs = systemClock.monotonicMs();
  if (to === undefined) process.once('exit', () => rmSync(target, { recursive: true, force: true }));
  try {
    await mkdir(target, { recursive: true, mode: 0o700 });
    const how = await copyStore(join(source, 'store'), join(target, 'store'));
    if (existsSync(keys)) await cp(keys, join(target, 'pki'), { recursive: true });
    if (at !== undefined) await revertStore(join(target, 'store'), revisionOf(Number(at)));
    const seconds = ((systemClock.monotonicMs() - beginMs) / 1_000).toFixed(2);
    stderr.write(`keelson fork: ${how} ${source} to ${target} in ${seconds} s\n`);
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    return fail(startErrorLine(error, loaded.config));
  }
  const own = [
    `--data-dir=${target}`,
    `--cert-dir=${join(target, 'pki')}`,
    `--kubeconfig-out=${join(target, 'admin.kubeconfig')}`,
  ];
  return [...ownDefaults, ...words, ...own];
}

import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startErrorLine } from './assembly/start-error.js';
import { stringifyJson } from './codec/json.js';
import { loadConfig } from './config/load-config.js';
import type { ServerConfig } from './config/server-config.js';
import { Progress } from './history/progress.js';
import { readServerState } from './history/server-state.js';
import { ClientError } from './kubeconfig-client/client-error.js';
import { openKubeconfigClient } from './kubeconfig-client/open-client.js';
import type { ClientCommandOptions } from './kubeconfig-client/with-client.js';
import { revisionOf } from './machinery/revision.js';
import { systemClock } from './std/clock.js';
import { copyStore, revertStore } from './storage/backends/embedded/copy-store.js';
import { loadStore } from './storage/backends/embedded/load-store.js';
import { dataFile } from './storage/backends/embedded/store-files.js';

export interface ForkOptions extends ClientCommandOptions {
  readonly to?: string;
  readonly at?: string;
}

interface Output {
  write(text: string): unknown;
}

/** A fork that is being made in the directory `target`. */
interface Fork {
  readonly target: string;
  readonly at: string | undefined;
  readonly tell: (line: string) => void;
}

/** Defaults of a fork, which stand before a --config file: it must not take the port of the original. */
const ownDefaults = ['--secure-port=0', '--bind-address=127.0.0.1'];

/**
 * Copies the store and the keys of --data-dir, or the state of the server of a kubeconfig. Returns the flags of the server on
 * the copy; undefined after an error. Without `to` the copy is removed when the process ends.
 */
export async function prepareFork(
  words: readonly string[],
  { to, at, kubeconfig: file, context }: ForkOptions,
  { stderr }: { readonly stderr: Output },
): Promise<string[] | undefined> {
  const tell = (line: string) => void stderr.write(`keelson fork: ${line}\n`);
  const loaded = loadConfig([...ownDefaults, ...words], process.env, { defaults: 'keelson' });
  if (loaded.errors) return tell(`${loaded.errors.join('; ')}; see keelson fork --help`);
  if (at !== undefined && !/^[1-9]\d{0,14}$/.test(at))
    return tell(`--at: ${stringifyJson(at)} is not a resourceVersion`);
  if (words.some((word) => /^--storage-backend(=|$)/.test(word) && word !== '--storage-backend=embedded'))
    return tell('--storage-backend: a fork has an embedded store; leave the flag out');
  const isLive = file !== undefined || context !== undefined;
  const source = resolve(loaded.config.storage.dataDirectory);
  if (!isLive && !existsSync(join(source, 'store', dataFile))) {
    return tell(`${source} has no embedded store; give --data-dir, or --kubeconfig of a server that runs`);
  }
  const unnamed = isLive ? join(tmpdir(), 'keelson') : source;
  const target = resolve(to ?? `${unnamed}.fork-${randomBytes(4).toString('hex')}`);
  if (existsSync(target)) return tell(`--to: ${target} exists already; name a new directory`);
  if (to === undefined) process.once('exit', () => rmSync(target, { recursive: true, force: true }));
  let flags: readonly string[];
  try {
    await mkdir(target, { recursive: true, mode: 0o700 });
    const fork = { target, at, tell };
    flags = isLive
      ? await copyServer({ ...(file !== undefined && { file }), ...(context !== undefined && { context }) }, fork)
      : await copyDirectory(source, loaded.config, fork);
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    return tell(error instanceof ClientError ? error.message : startErrorLine(error, loaded.config));
  }
  const hasAuditLog = words.some((word) => /^--audit-log-path(=|$)/.test(word));
  if (!hasAuditLog && loaded.config.audit.log.path !== undefined)
    tell('the audit log of the original is left to it; give --audit-log-path for one of the fork');
  const own = [
    '--storage-backend=embedded',
    ...(hasAuditLog ? [] : ['--audit-log-path=']),
    `--data-dir=${target}`,
    `--cert-dir=${join(target, 'pki')}`,
    `--kubeconfig-out=${join(target, 'admin.kubeconfig')}`,
  ];
  return [...ownDefaults, ...words, ...flags, ...own];
}

async function copyDirectory(source: string, { serving }: ServerConfig, { target, at, tell }: Fork): Promise<string[]> {
  const beginMs = systemClock.monotonicMs();
  const keys = resolve(serving.certDirectory);
  const how = await copyStore(join(source, 'store'), join(target, 'store'));
  if (existsSync(keys)) await cp(keys, join(target, 'pki'), { recursive: true });
  if (at !== undefined) await revertStore(join(target, 'store'), revisionOf(Number(at)));
  const seconds = ((systemClock.monotonicMs() - beginMs) / 1_000).toFixed(2);
  tell(`${how} ${source} to ${target} in ${seconds} s`);
  return [];
}

/** Reads the state of a running server, page by page. Returns the flags that its keys need. */
async function copyServer(
  kubeconfig: { readonly file?: string; readonly context?: string },
  { target, at, tell }: Fork,
): Promise<string[]> {
  const api = await openKubeconfigClient(kubeconfig);
  try {
    const progress = new Progress('copied', tell);
    const state = await readServerState(api, at);
    async function* counted() {
      for await (const items of state.pages) {
        for (let n = 0; n < items.length; n++) progress.add();
        yield items;
      }
    }
    await loadStore(join(target, 'store'), { revision: state.revision, pages: counted() });
    tell(`copied ${progress.count} keys at resourceVersion ${state.revision} to ${target} in ${progress.duration}`);
    return [`--etcd-prefix=${state.etcdPrefix}`];
  } finally {
    api.close();
  }
}

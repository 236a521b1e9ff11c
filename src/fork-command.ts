import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { cp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeLogger } from './assembly/logging.js';
import type { OwnStore } from './assembly/own-store.js';
import { startErrorLine } from './assembly/start-error.js';
import { stringifyJson } from './codec/json.js';
import { loadConfig } from './config/load-config.js';
import { processCount } from './config/process-count.js';
import type { ServerConfig } from './config/server-config.js';
import { Progress } from './history/progress.js';
import { readServerState } from './history/server-state.js';
import { ClientError } from './kubeconfig-client/client-error.js';
import { openKubeconfigClient } from './kubeconfig-client/open-client.js';
import type { ClientCommandOptions } from './kubeconfig-client/with-client.js';
import { revisionOf } from './machinery/revision.js';
import { systemClock } from './std/clock.js';
import { copyStore, revertStore } from './storage/backends/embedded/copy-store.js';
import { EmbeddedStore } from './storage/backends/embedded/embedded-store.js';
import { loadStore } from './storage/backends/embedded/load-store.js';
import { withContent } from './storage/backends/embedded/read-content.js';
import { dataFile } from './storage/backends/embedded/store-files.js';
import { MemoryStore } from './storage/backends/memory/memory-store.js';
import { contentOf, type StoreContent } from './storage/backends/store-content.js';
import type { KvStore } from './storage/kv-store.js';

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
  /** With --storage-backend=memory. */
  readonly toMemory?: (content: StoreContent) => Promise<KvStore>;
}

/** Defaults of a fork, which stand before a --config file: it must not take the port of the original. */
const ownDefaults = ['--secure-port=0', '--bind-address=127.0.0.1'];

/** The server on a copy. */
interface PreparedFork {
  readonly flags: readonly string[];
  /** Absent if the server opens the store in the directory of the copy. */
  readonly store?: OwnStore;
}

/**
 * Copies the store and the keys of --data-dir, or the state of the server of a kubeconfig. Returns undefined after an error.
 * Without `to` the copy is removed when the process ends.
 */
export async function prepareFork(
  words: readonly string[],
  { to, at, kubeconfig: file, context }: ForkOptions,
  { stderr }: { readonly stderr: Output },
): Promise<PreparedFork | undefined> {
  const tell = (line: string) => void stderr.write(`keelson fork: ${line}\n`);
  const loaded = loadConfig([...ownDefaults, ...words], process.env, { defaults: 'keelson' });
  if (loaded.errors) return tell(`${loaded.errors.join('; ')}; see keelson fork --help`);
  if (at !== undefined && !/^[1-9]\d{0,14}$/.test(at))
    return tell(`--at: ${stringifyJson(at)} is not a resourceVersion`);
  const backend = backendIn(words);
  if (backend !== 'embedded' && backend !== 'memory')
    return tell('--storage-backend: a fork has a store that is embedded, or in memory; give embedded or memory');
  if (backend === 'memory' && to !== undefined)
    return tell('--to: a fork in memory leaves nothing to keep; give either --to or --storage-backend=memory');
  if (backend === 'memory' && processCount(loaded.config) > 1)
    return tell('--workers: a fork in memory is served by one process; leave the flag out');
  const isLive = file !== undefined || context !== undefined;
  const source = resolve(loaded.config.storage.dataDirectory);
  if (!isLive && !existsSync(join(source, 'store', dataFile))) {
    return tell(`${source} has no embedded store; give --data-dir, or --kubeconfig of a server that runs`);
  }
  const unnamed = isLive ? join(tmpdir(), 'keelson') : source;
  const target = resolve(to ?? `${unnamed}.fork-${randomBytes(4).toString('hex')}`);
  if (existsSync(target)) return tell(`--to: ${target} exists already; name a new directory`);
  if (to === undefined) removeAtEnd(target);
  let copy: PreparedFork;
  try {
    await mkdir(target, { recursive: true, mode: 0o700 });
    const toMemory = (content: StoreContent) =>
      MemoryStore.with(content, { historyMs: loaded.config.storage.etcd.compactionIntervalMs });
    const fork = { target, at, tell, ...(backend === 'memory' && { toMemory }) };
    copy = isLive
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
    `--storage-backend=${backend}`,
    ...(hasAuditLog ? [] : ['--audit-log-path=']),
    `--data-dir=${target}`,
    `--cert-dir=${join(target, 'pki')}`,
    `--kubeconfig-out=${join(target, 'admin.kubeconfig')}`,
  ];
  return { ...copy, flags: [...ownDefaults, ...words, ...copy.flags, ...own] };
}

/** Removes a directory when the process ends, also by a signal before the server has begun to handle them. */
function removeAtEnd(directory: string): void {
  const remove = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      if (process.listenerCount(signal) > 0) return;
      remove();
      process.kill(process.pid, signal);
    });
  }
}

/** Returns the last --storage-backend; that of a --config file is for the original. */
function backendIn(words: readonly string[]): string {
  const flag = '--storage-backend';
  const at = words.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`));
  if (at < 0) return 'embedded';
  return words[at] === flag ? (words[at + 1] ?? '') : words[at]!.slice(flag.length + 1);
}

async function copyDirectory(
  source: string,
  config: ServerConfig,
  { target, at, tell, toMemory }: Fork,
): Promise<PreparedFork> {
  const beginMs = systemClock.monotonicMs();
  const told = (how: 'cloned' | 'copied', place = target) => {
    const seconds = ((systemClock.monotonicMs() - beginMs) / 1_000).toFixed(2);
    tell(`${how} ${source} to ${place} in ${seconds} s`);
  };
  const keys = resolve(config.serving.certDirectory);
  if (existsSync(keys)) await cp(keys, join(target, 'pki'), { recursive: true });
  const [from, directory] = [join(source, 'store'), join(target, 'store')];
  if (at === undefined && !toMemory && processCount(config) === 1) {
    const { store, copied } = await EmbeddedStore.openCopy(from, {
      directory,
      historyMs: config.storage.etcd.compactionIntervalMs,
      logger: makeLogger(config.log),
    });
    const whole = copied.then((how) => told(how));
    // The server may not start meanwhile, and does not await it then.
    whole.catch(() => rmSync(target, { recursive: true, force: true }));
    return { flags: [], store: { kv: store, whole } };
  }
  const how = await copyStore(from, directory);
  if (at !== undefined) await revertStore(directory, revisionOf(Number(at)));
  if (!toMemory) {
    told(how);
    return { flags: [] };
  }
  const kv = await withContent(directory, toMemory);
  await rm(directory, { recursive: true });
  told('copied', 'memory');
  return { flags: [], store: { kv } };
}

/** Reads the state of a running server, page by page. Returns the flags that its keys need. */
async function copyServer(
  kubeconfig: { readonly file?: string; readonly context?: string },
  { target, at, tell, toMemory }: Fork,
): Promise<PreparedFork> {
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
    const loaded = { revision: state.revision, pages: counted() };
    const store = await (toMemory ? toMemory(contentOf(loaded)) : loadStore(join(target, 'store'), loaded));
    const place = store ? 'memory' : target;
    tell(`copied ${progress.count} keys at resourceVersion ${state.revision} to ${place} in ${progress.duration}`);
    return { flags: [`--etcd-prefix=${state.etcdPrefix}`], ...(store && { store: { kv: store } }) };
  } finally {
    api.close();
  }
}

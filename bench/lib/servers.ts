import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { request, type RequestOptions } from 'node:https';
import { connect, createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { killedAtExit } from '../../scripts/killed-at-exit.js';
import { ensureEtcd } from '../../scripts/etcd.js';
import type { Target } from './http1-connection.js';

export const stores = ['memory', 'embedded', 'etcd'] as const;
export type StoreName = (typeof stores)[number];

/** A server in a process of its own. */
export interface Server {
  readonly name: string;
  readonly pid: number;
  readonly target: Target;
  readonly token: string;
  /** Time from the start of the process to its first ready answer. */
  readonly startMs: number;
  call(method: string, path: string, body?: string): Promise<{ readonly code: number; readonly text: string }>;
  /** Asks the probe that `nodeFlags` have loaded. */
  ask(question: object): Promise<unknown>;
  stop(): Promise<void>;
}

const host = '127.0.0.1';
const token = 'benchmark';
const startTimeoutMs = 60_000;
/** The flag of Node with which bin/keelson starts, of which the benchmarks need the process itself. */
const semiSpaces = '--max-semi-space-size=32';

export async function startOurs(
  directory: string,
  store: StoreName,
  etcdUrl: string | undefined,
  flags: readonly string[] = [],
  nodeFlags: readonly string[] = [],
): Promise<Server> {
  await mkdir(directory, { recursive: true });
  const tokens = join(directory, 'tokens.csv');
  await writeFile(tokens, `${token},benchmark,1,"system:masters"\nnoisy,noisy,2\npolite,polite,3\n`, { mode: 0o600 });
  const port = await freePort();
  const words = [
    semiSpaces,
    ...nodeFlags,
    join(packageRoot(), 'bin/keelson'),
    'serve',
    `--secure-port=${port}`,
    `--data-dir=${directory}`,
    `--token-auth-file=${tokens}`,
    ...(etcdUrl === undefined ? [`--storage-backend=${store}`] : [`--etcd-servers=${etcdUrl}`]),
    ...flags,
  ];
  const ca = join(directory, 'pki/ca.crt');
  return started({ name: 'Keelson', words, port, path: '/readyz', caFile: ca });
}

/** Returns the body of an answer that is a success or 409. */
export async function must(server: Server, method: string, path: string, body?: string): Promise<string> {
  const { code, text } = await server.call(method, path, body);
  if (code >= 300 && code !== 409) throw new Error(`${server.name}: ${method} ${path}: ${code} ${text.slice(0, 300)}`);
  return text;
}

/** Starts the bare server with the certificate that Keelson created in the same directory. */
export async function startBare(directory: string): Promise<Server> {
  const pki = join(directory, 'pki');
  const port = await freePort();
  const program = fileURLToPath(new URL('./bare-server.js', import.meta.url));
  const words = [program, join(pki, 'apiserver.crt'), join(pki, 'apiserver.key'), String(port)];
  return started({ name: 'bare Node', words, port, path: '/', caFile: join(pki, 'ca.crt') });
}

/** Starts etcd on an empty directory. */
export async function startEtcd(directory: string): Promise<{ url: string; pid: number; stop(): Promise<void> }> {
  const [client, peer] = [await freePort(), await freePort()];
  const url = `http://${host}:${client}`;
  const peerUrl = `http://${host}:${peer}`;
  const child = launch(await ensureEtcd(), [
    ...[`--data-dir=${directory}`, '--name=bench', '--log-level=error', `--listen-client-urls=${url}`],
    ...[`--advertise-client-urls=${url}`, `--listen-peer-urls=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`],
    `--initial-cluster=bench=${peerUrl}`,
  ]);
  const deadline = performance.now() + startTimeoutMs;
  while (!(await answersAt(client))) {
    if (performance.now() > deadline) throw new Error('etcd did not start');
    await sleep(50);
  }
  return { url, pid: child.pid!, stop: () => ended(child) };
}

interface Start {
  readonly name: string;
  readonly words: readonly string[];
  readonly port: number;
  readonly path: string;
  readonly caFile: string;
}

async function started({ name, words, port, path, caFile }: Start): Promise<Server> {
  const startedMs = performance.now();
  const child = launch(process.execPath, words);
  // The bare server is ready with any answer, Keelson with a 200.
  const isReady = async () => {
    const headers = { authorization: `Bearer ${token}` };
    const code = await statusOf({ host, port, path, headers, rejectUnauthorized: false, agent: false });
    return name === 'Keelson' ? code === 200 : code !== undefined;
  };
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode} instead of serving`);
    if (performance.now() - startedMs > startTimeoutMs) throw new Error(`${name} was not ready in time`);
    // Each question is a new TLS connection: more of them would take a part of the time that is measured.
    await sleep(Math.max(5, (performance.now() - startedMs) / 50));
  }
  const startMs = performance.now() - startedMs;
  const ca = await readFile(caFile, 'utf8');
  return {
    name,
    pid: child.pid!,
    target: { host, port, ca },
    token,
    startMs,
    call: (method, path, body) => call({ host, port, ca, method, path }, body),
    ask: async (question) => {
      child.send(question);
      const [answer] = (await once(child, 'message')) as [unknown];
      return answer;
    },
    stop: () => ended(child),
  };
}

function launch(program: string, words: readonly string[]): ChildProcess {
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  killedAtExit(child);
  let complaints = '';
  child.stderr!.on('data', (text: Buffer) => (complaints = (complaints + String(text)).slice(-2000)));
  child.once('exit', (code) => {
    if (code) process.stderr.write(complaints);
  });
  return child;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await once(child, 'exit');
  clearTimeout(late);
}

function statusOf(options: RequestOptions): Promise<number | undefined> {
  return new Promise((resolve) => {
    const sent = request(options, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode));
    });
    sent.once('error', () => resolve(undefined));
    sent.end();
  });
}

function call(options: RequestOptions, body = ''): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== '' && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    };
    const sent = request({ ...options, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.once('error', reject);
      response.once('end', () =>
        resolve({ code: response.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') }),
      );
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function answersAt(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('connect', () => resolve((socket.destroy(), true)));
    socket.once('error', () => resolve(false));
  });
}

function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'bin/keelson'))) {
    if (folder === dirname(folder)) throw new Error('bin/keelson was not found in the folders above this program');
    folder = dirname(folder);
  }
  return folder;
}

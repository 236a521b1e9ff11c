import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killedAtExit } from '../killed-at-exit.js';
import {
  keyPem,
  makeAuthority,
  makeClientPair,
  makeKey,
  makeServiceAccountKey,
  makeServingPair,
  signerOf,
} from '../../src/certificates/authority.js';
import type { Signer } from '../../src/certificates/issue-certificate.js';
import { kubeconfig } from '../../src/certificates/kubeconfig.js';
import { servingNames } from '../../src/certificates/serving-names.js';
import { packageRoot } from '../../src/config/config-files.js';
import { systemClock } from '../../src/std/clock.js';
import { silentLogger } from '../../src/std/logger.js';
import { systemRng } from '../../src/std/rng.js';
import { openEtcdStore } from '../../src/storage/backends/etcd/etcd-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { ensureEtcd } from '../etcd.js';
import { ApiClient } from './api-client.js';
import type { Programs } from './programs.js';

type ProcessName = 'etcd' | 'keelson' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler';

const startMsMax = 120_000;
const stopMsMax = 30_000;
const host = '127.0.0.1';
const serviceRange = '10.96.0.0/16';
export const nodePortRange = '30000-30767';

/** One etcd, with Keelson and upstream programs on it, in processes of their own with one certificate authority. */
export class Cluster {
  private readonly children = new Map<ProcessName, ChildProcess>();
  private readonly unexpectedExits: string[] = [];
  private readonly clients: ApiClient[] = [];

  private constructor(
    readonly directory: string,
    private readonly programs: Programs,
    private readonly ports: Readonly<Record<'etcd' | 'peer' | 'keelson' | 'kube-apiserver' | 'kcm' | 'ks', number>>,
    private readonly signer: Signer,
  ) {}

  static async make(
    programs: Programs,
    directory = mkdtempSync(join(tmpdir(), 'keelson-upstream-')),
  ): Promise<Cluster> {
    mkdirSync(join(directory, 'logs'), { recursive: true });
    const [etcd, peer, keelson, apiserver, kcm, ks] = await freePorts(6);
    const ports = { etcd: etcd!, peer: peer!, keelson: keelson!, 'kube-apiserver': apiserver!, kcm: kcm!, ks: ks! };
    const key = makeKey();
    const authority = await makeAuthority(key, Date.now());
    const cluster = new Cluster(directory, programs, ports, signerOf(authority, key));
    const serving = await makeServingPair(cluster.signer, servingNames({ serviceAddress: '10.96.0.1' }), Date.now());
    const account = await makeServiceAccountKey();
    cluster.write('ca.crt', authority);
    cluster.write('ca.key', keyPem(key));
    cluster.write('front-proxy-ca.crt', await makeAuthority(makeKey(), Date.now()));
    cluster.write('serving.crt', serving.certificate);
    cluster.write('serving.key', serving.key);
    cluster.write('sa.pub', account.publicKey);
    cluster.write('sa.key', account.privateKey);
    return cluster;
  }

  get etcdUrl(): string {
    return `http://${host}:${this.ports.etcd}`;
  }

  async startEtcd(): Promise<void> {
    const { etcdUrl } = this;
    const peerUrl = `http://${host}:${this.ports.peer}`;
    this.launch('etcd', await ensureEtcd(), [
      ...[`--data-dir=${this.path('etcd')}`, '--name=upstream', '--log-level=warn', `--listen-client-urls=${etcdUrl}`],
      ...[`--advertise-client-urls=${etcdUrl}`, `--listen-peer-urls=${peerUrl}`],
      ...[`--initial-advertise-peer-urls=${peerUrl}`, `--initial-cluster=upstream=${peerUrl}`, '--unsafe-no-fsync'],
    ]);
    await until('etcd', () => answersAt(this.ports.etcd));
  }

  /** Opens etcd directly, beside the servers. */
  openStore(): Promise<KvStore> {
    const world = { clock: systemClock, logger: silentLogger, rng: systemRng };
    return openEtcdStore({ ...world, servers: [this.etcdUrl], callTimeoutMs: 30_000 });
  }

  async startKeelson(flags: readonly string[] = []): Promise<ApiClient> {
    const words = [join(packageRoot, 'bin/keelson'), 'serve', `--data-dir=${this.path('keelson')}`];
    this.launch('keelson', process.execPath, [
      ...words,
      `--secure-port=${this.ports.keelson}`,
      '--authorization-mode=RBAC',
      `--cluster-signing-cert-file=${this.path('ca.crt')}`,
      `--cluster-signing-key-file=${this.path('ca.key')}`,
      `--root-ca-file=${this.path('ca.crt')}`,
      ...this.serverFlags(),
      ...flags,
    ]);
    return this.readyServer('keelson');
  }

  async startApiServer(flags: readonly string[] = []): Promise<ApiClient> {
    this.launch('kube-apiserver', this.programs['kube-apiserver'], [
      `--secure-port=${this.ports['kube-apiserver']}`,
      '--bind-address=127.0.0.1',
      '--authorization-mode=Node,RBAC',
      '--allow-privileged=true',
      // Both advertise a loopback address, which Endpoints must not contain.
      '--endpoint-reconciler-type=none',
      `--cert-dir=${this.path('kube-apiserver')}`,
      ...this.serverFlags(),
      ...flags,
    ]);
    return this.readyServer('kube-apiserver');
  }

  async startControllerManager(server: 'keelson' | 'kube-apiserver', flags: readonly string[] = []): Promise<void> {
    const config = await this.kubeconfigOf('system:kube-controller-manager', server);
    this.launch('kube-controller-manager', this.programs['kube-controller-manager'], [
      `--kubeconfig=${config}`,
      `--authentication-kubeconfig=${config}`,
      `--authorization-kubeconfig=${config}`,
      `--root-ca-file=${this.path('ca.crt')}`,
      `--cluster-signing-cert-file=${this.path('ca.crt')}`,
      `--cluster-signing-key-file=${this.path('ca.key')}`,
      `--service-account-private-key-file=${this.path('sa.key')}`,
      '--use-service-account-credentials=true',
      '--controllers=*,bootstrapsigner,tokencleaner',
      `--service-cluster-ip-range=${serviceRange}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${this.ports.kcm}`,
      `--cert-dir=${this.path('kcm')}`,
      ...flags,
    ]);
    await until('kube-controller-manager', () => answersAt(this.ports.kcm));
  }

  async startScheduler(server: 'keelson' | 'kube-apiserver', flags: readonly string[] = []): Promise<void> {
    const config = await this.kubeconfigOf('system:kube-scheduler', server);
    this.launch('kube-scheduler', this.programs['kube-scheduler'], [
      `--kubeconfig=${config}`,
      `--authentication-kubeconfig=${config}`,
      `--authorization-kubeconfig=${config}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${this.ports.ks}`,
      `--cert-dir=${this.path('scheduler')}`,
      ...flags,
    ]);
    await until('kube-scheduler', () => answersAt(this.ports.ks));
  }

  /** A client of a running server with a user's credentials; an administrator by default. */
  async client(
    server: 'keelson' | 'kube-apiserver',
    commonName = 'admin',
    organizations: readonly string[] = ['system:masters'],
  ): Promise<ApiClient> {
    const pair = await makeClientPair(this.signer, { commonName, organizations }, Date.now());
    const client = new ApiClient(server, { url: this.urlOf(server), ca: this.read('ca.crt'), ...pair });
    this.clients.push(client);
    return client;
  }

  /** The log so far. */
  logOf(name: ProcessName): string {
    return this.read(`logs/${name}.log`);
  }

  /** Names of programs that ended without having been stopped. */
  get exits(): readonly string[] {
    return this.unexpectedExits;
  }

  async stop(name: ProcessName, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.children.get(name);
    if (!child) return;
    this.children.delete(name);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    const late = setTimeout(() => child.kill('SIGKILL'), stopMsMax);
    await exited;
    clearTimeout(late);
  }

  async end(keepsFiles: boolean): Promise<void> {
    for (const client of this.clients) client.close();
    const all = ['kube-scheduler', 'kube-controller-manager', 'kube-apiserver', 'keelson', 'etcd'] as const;
    for (const name of all) await this.stop(name);
    if (!keepsFiles) rmSync(this.directory, { recursive: true, force: true });
  }

  async kubeconfigOf(
    commonName: string,
    server: 'keelson' | 'kube-apiserver',
    organizations: readonly string[] = [],
  ): Promise<string> {
    const user = await makeClientPair(this.signer, { commonName, organizations }, Date.now());
    const text = kubeconfig({ server: this.urlOf(server), certificateAuthority: this.read('ca.crt'), user });
    return this.write(`${commonName.replace(/:/g, '-')}-${server}.kubeconfig`, text);
  }

  private serverFlags(): string[] {
    return [
      `--etcd-servers=${this.etcdUrl}`,
      `--client-ca-file=${this.path('ca.crt')}`,
      `--tls-cert-file=${this.path('serving.crt')}`,
      `--tls-private-key-file=${this.path('serving.key')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${this.path('sa.pub')}`,
      `--service-account-signing-key-file=${this.path('sa.key')}`,
      `--service-cluster-ip-range=${serviceRange}`,
      `--service-node-port-range=${nodePortRange}`,
      `--requestheader-client-ca-file=${this.path('front-proxy-ca.crt')}`,
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      '--enable-bootstrap-token-auth',
    ];
  }

  private async readyServer(name: 'keelson' | 'kube-apiserver'): Promise<ApiClient> {
    const client = await this.client(name);
    await until(name, async () => {
      if (!this.children.has(name)) throw new Error(`${name} ended; see ${this.path(`logs/${name}.log`)}`);
      return (await client.get('/readyz').catch(() => undefined))?.code === 200;
    });
    return client;
  }

  private urlOf(server: 'keelson' | 'kube-apiserver'): string {
    return `https://${host}:${this.ports[server]}`;
  }

  private launch(name: ProcessName, program: string, words: readonly string[]): void {
    const log = createWriteStream(this.path(`logs/${name}.log`), { flags: 'a' });
    const child = spawn(program, [...words], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    killedAtExit(child);
    this.children.set(name, child);
    child.once('exit', (code, signal) => {
      if (this.children.get(name) !== child) return;
      this.children.delete(name);
      this.unexpectedExits.push(`${name} ended with ${code ?? signal}`);
    });
  }

  private path(name: string): string {
    return join(this.directory, name);
  }
  private read(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }
  private write(name: string, text: string): string {
    writeFileSync(this.path(name), text, { mode: 0o600 });
    return this.path(name);
  }
}

async function until(what: string, isThere: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + startMsMax;
  while (!(await isThere())) {
    if (performance.now() > deadline) throw new Error(`${what} was not ready within ${startMsMax / 1000} s`);
    await sleep(200);
  }
}

function answersAt(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Returns distinct ports that were free when asked. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, host));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

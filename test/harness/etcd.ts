import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killedAtExit } from '../../scripts/killed-at-exit.js';
import { findEtcd, howToGetEtcd } from '../../scripts/etcd.js';
import { systemClock } from '../../src/std/clock.js';
import { silentLogger } from '../../src/std/logger.js';
import { systemRng } from '../../src/std/rng.js';
import { openEtcdStore, type EtcdStoreOptions } from '../../src/storage/backends/etcd/etcd-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { freePorts } from './ports.js';
import { makeEtcdCertificates, type EtcdCertificates } from './etcd-certificates.js';

/**
 * Groups tests that need a real etcd. Without one they are skipped and the reason is logged; with the variable CI set
 * they fail, since skipped tests go unnoticed there.
 */
export function describeWithEtcd(name: string, tests: () => void): void {
  if (findEtcd() !== undefined) return void describe(name, tests);
  const reason = `no etcd was found: ${howToGetEtcd}`;
  if (process.env['CI']) {
    describe(name, () => {
      it('needs etcd', () => {
        throw new Error(reason);
      });
    });
    return;
  }
  process.stderr.write(`skipped: ${name}: ${reason}\n`);
  describe.skip(`${name} (${reason})`, tests);
}

export interface EtcdOptions {
  /** Both sides use certificates; the store options contain the client's. */
  readonly tls?: boolean;
  /** True to sync writes to disk. Slower, and rarely needed in tests. */
  readonly isDurable?: boolean;
  readonly flags?: readonly string[];
}

/** Options and a URL of openEtcdStore for this etcd. */
type StoreOptions = Pick<EtcdStoreOptions, 'servers' | 'caFile' | 'certFile' | 'keyFile'>;

interface MemberAddress {
  readonly name: string;
  readonly client: string;
  readonly peer: string;
}

/** An etcd process that can be killed and restarted on its data. */
class EtcdMember {
  private process: ChildProcess | undefined;
  private output = '';

  constructor(
    readonly address: MemberAddress,
    private readonly cluster: readonly MemberAddress[],
    private readonly folder: string,
    private readonly options: EtcdOptions,
    private readonly certificates: EtcdCertificates | undefined,
  ) {}

  get isRunning(): boolean {
    return this.process !== undefined;
  }

  /** Starts the process; it serves once a quorum of its cluster has been started. */
  start(): void {
    const { name, client, peer } = this.address;
    const { certificates, options } = this;
    const child = spawn(
      findEtcd()!,
      [
        `--name=${name}`,
        `--data-dir=${join(this.folder, name)}`,
        `--listen-client-urls=${client}`,
        `--advertise-client-urls=${client}`,
        `--listen-peer-urls=${peer}`,
        `--initial-advertise-peer-urls=${peer}`,
        `--initial-cluster=${this.cluster.map((one) => `${one.name}=${one.peer}`).join(',')}`,
        '--heartbeat-interval=50',
        '--election-timeout=500',
        '--logger=zap',
        '--log-level=warn',
        ...(options.isDurable ? [] : ['--unsafe-no-fsync']),
        ...(certificates
          ? [
              `--cert-file=${certificates.serverCertFile}`,
              `--key-file=${certificates.serverKeyFile}`,
              `--trusted-ca-file=${certificates.caFile}`,
              '--client-cert-auth',
            ]
          : []),
        ...(options.flags ?? []),
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] } },
    );
    this.process = child;
    killedAtExit(child);
    this.output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (this.output = (this.output + chunk.toString()).slice(-8_000)));
    }
    child.once('exit', () => {
      if (this.process === child) this.process = undefined;
    });
  }

  /** Kills it like a crash (SIGKILL), or stops it like an operator. */
  async kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT' = 'SIGKILL'): Promise<void> {
    const child = this.process;
    if (!child) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    if (signal === 'SIGKILL' || signal === 'SIGTERM') await exited;
    if (signal === 'SIGSTOP') await stopped(child.pid!);
  }

  /**
   * Resolves when it answers, which takes a quorum. It accepts connections before: a member that is killed then may not
   * have stored its cluster membership, and never serves again.
   */
  async serving(): Promise<void> {
    const { certificates } = this;
    const ended = new AbortController();
    this.process?.once('exit', () => ended.abort());
    const store = await openEtcdStore({
      ...realWorld,
      ...(certificates && clientFiles(certificates)),
      servers: [this.address.client],
      callTimeoutMs: 50_000,
    });
    try {
      await store.revision({ signal: ended.signal });
    } catch (cause) {
      throw new Error(`etcd does not serve; it said:\n${this.output}`, { cause });
    } finally {
      await store.close();
    }
  }
}

const realWorld = { clock: systemClock, logger: silentLogger, rng: systemRng };

function clientFiles({ caFile, clientCertFile, clientKeyFile }: EtcdCertificates) {
  return { caFile, certFile: clientCertFile, keyFile: clientKeyFile };
}

/** A running cluster on loopback, by default with one member. Its data are removed by stop(). */
export class EtcdCluster {
  private constructor(
    readonly members: readonly EtcdMember[],
    private readonly folder: string,
    readonly storeOptions: StoreOptions,
  ) {}

  static async start(size = 1, options: EtcdOptions = {}): Promise<EtcdCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'keelson-etcd-'));
    const certificates = options.tls ? await makeEtcdCertificates(folder) : undefined;
    const ports = await freePorts(size * 2);
    const scheme = certificates ? 'https' : 'http';
    const addresses = Array.from({ length: size }, (_, i) => ({
      name: `m${i}`,
      client: `${scheme}://127.0.0.1:${ports[i * 2]}`,
      peer: `http://127.0.0.1:${ports[i * 2 + 1]}`,
    }));
    const members = addresses.map((address) => new EtcdMember(address, addresses, folder, options, certificates));
    const cluster = new EtcdCluster(members, folder, {
      servers: addresses.map(({ client }) => client),
      ...(certificates && clientFiles(certificates)),
    });
    for (const member of members) member.start();
    try {
      await Promise.all(members.map((member) => member.serving()));
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** Opens a store on this cluster with the system clock and short timeouts. */
  openStore(options: Partial<EtcdStoreOptions> = {}): Promise<KvStore> {
    return openEtcdStore({
      ...this.storeOptions,
      ...realWorld,
      dialTimeoutMs: 1_000,
      callTimeoutMs: 8_000,
      ...options,
    });
  }

  /** The leader according to the members' metrics. For clusters without TLS. */
  async leader(): Promise<EtcdMember> {
    for (;;) {
      for (const member of this.members) {
        if (!member.isRunning) continue;
        const response = await fetch(`${member.address.client}/metrics`).catch(() => undefined);
        if (/^etcd_server_is_leader 1$/m.test((await response?.text()) ?? '')) return member;
      }
      await sleep(50);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Waits until a process has stopped: on a busy machine its threads may run on for a while. */
async function stopped(pid: number): Promise<void> {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return sleep(500);
  const isStopped = (task: string) => / \(.*\) T /.test(readFileSync(join(tasks, task, 'stat'), 'utf8'));
  while (!readdirSync(tasks).every(isStopped)) await sleep(5);
}

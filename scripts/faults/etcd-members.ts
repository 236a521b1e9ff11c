import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  adminDefault,
  makeAuthority,
  makeClientPair,
  makeKey,
  makeServingPair,
  signerOf,
} from '../../src/certificates/authority.js';
import { Http2Channel } from '../../src/grpc/http2-channel.js';
import { systemClock } from '../../src/std/clock.js';
import { silentLogger } from '../../src/std/logger.js';
import { systemRng } from '../../src/std/rng.js';
import { openEtcdStore } from '../../src/storage/backends/etcd/etcd-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { ensureEtcd } from '../etcd.js';
import { FaultyLine } from './faulty-line.js';
import { freePort, OwnProcess } from './own-process.js';

interface Member extends OwnProcessPorts {
  readonly process: OwnProcess;
  /** The line through which the other members reach this one. */
  readonly peerLine: FaultyLine;
  readonly dataDirectory: string;
}

interface OwnProcessPorts {
  readonly clientPort: number;
  readonly metricsPort: number;
}

/** Files of TLS between clients and members. */
interface TlsPaths {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** An etcd cluster with TLS for clients, whose members can be killed, paused, and partitioned from each other. */
export class EtcdMembers {
  private constructor(
    readonly members: readonly Member[],
    readonly tls: TlsPaths,
  ) {}

  static async start(directory: string, size: number): Promise<EtcdMembers> {
    mkdirSync(directory, { recursive: true });
    const tls = await makeCertificates(directory);
    const program = await ensureEtcd();
    const pids = new Map<string, () => number | undefined>();
    const sourceOf = (port: number) => nameOfOwner(port, pids);
    const ports = await Promise.all(
      Array.from({ length: size }, async () => ({
        clientPort: await freePort(),
        metricsPort: await freePort(),
        peerPort: await freePort(),
      })),
    );
    const lines = await Promise.all(
      ports.map(({ peerPort }) => FaultyLine.start({ upstreamPort: peerPort, sourceOf })),
    );
    const peers = lines.map(({ port }, n) => `m${n}=http://127.0.0.1:${port}`);
    const members = ports.map(({ clientPort, metricsPort, peerPort }, n): Member => {
      const dataDirectory = join(directory, `m${n}`);
      const process = new OwnProcess(`m${n}`, program, [
        ...[`--name=m${n}`, `--data-dir=${dataDirectory}`, '--log-level=warn', '--logger=zap', '--unsafe-no-fsync'],
        `--listen-client-urls=https://127.0.0.1:${clientPort}`,
        `--advertise-client-urls=https://127.0.0.1:${clientPort}`,
        `--listen-metrics-urls=http://127.0.0.1:${metricsPort}`,
        `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
        `--initial-advertise-peer-urls=${peers[n]!.slice(3)}`,
        `--initial-cluster=${peers.join(',')}`,
        ...['--heartbeat-interval=100', '--election-timeout=1500', '--client-cert-auth'],
        ...[`--cert-file=${tls.serverCertFile}`, `--key-file=${tls.serverKeyFile}`, `--trusted-ca-file=${tls.caFile}`],
      ]);
      pids.set(`m${n}`, () => process.pid);
      return { process, clientPort, metricsPort, peerLine: lines[n]!, dataDirectory };
    });
    for (const { process } of members) process.start();
    const cluster = new EtcdMembers(members, tls);
    const store = await cluster.openStore({ callTimeoutMs: 60_000 });
    await store.revision().finally(() => store.close());
    return cluster;
  }

  /** Opens the cluster directly, not through lines with faults. */
  openStore(options: { readonly callTimeoutMs?: number } = {}): Promise<KvStore> {
    const { caFile, certFile, keyFile } = this.tls;
    return openEtcdStore({
      servers: this.members.map(({ clientPort }) => `https://127.0.0.1:${clientPort}`),
      ...{ caFile, certFile, keyFile, clock: systemClock, logger: silentLogger, rng: systemRng },
      ...options,
    });
  }

  /** The leader by its metrics; undefined if there is none within 10 s. */
  async leader(): Promise<Member | undefined> {
    for (let attempt = 0; attempt < 100; attempt++) {
      for (const member of this.members) {
        if (!member.process.isRunning) continue;
        const text = await textOf(`http://127.0.0.1:${member.metricsPort}/metrics`, 500);
        if (/^etcd_server_is_leader 1$/m.test(text)) return member;
      }
      await sleep(100);
    }
    return undefined;
  }

  /** Cuts a member off from the others, in both directions; its clients still reach it. */
  isolate(alone: Member): void {
    for (const member of this.members) {
      if (member === alone) member.peerLine.set('cut');
      else member.peerLine.set('cut', (source) => source === alone.process.name);
    }
  }

  joinAll(): void {
    for (const { peerLine } of this.members) peerLine.set('open');
  }

  async defragment({ clientPort }: Member): Promise<void> {
    const { caFile, certFile, keyFile } = this.tls;
    const tls = {
      rootCertificate: readFileSync(caFile),
      certChain: readFileSync(certFile),
      privateKey: readFileSync(keyFile),
    };
    const channel = new Http2Channel({ url: `https://127.0.0.1:${clientPort}`, tls, clock: systemClock });
    try {
      await channel.connect(5_000);
      const frame = Buffer.alloc(5);
      const deadlineMs = Date.now() + 30_000;
      await channel.unary({
        path: '/etcdserverpb.Maintenance/Defragment',
        frame,
        decode: () => true,
        deadlineMs,
      });
    } finally {
      channel.close();
    }
  }

  /** Ends all members and removes their data, as a cluster that is created anew at the same addresses. */
  async loseEverything(): Promise<void> {
    await Promise.all(this.members.map(({ process }) => process.kill()));
    for (const { dataDirectory } of this.members) rmSync(dataDirectory, { recursive: true, force: true });
    for (const { process } of this.members) process.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map(({ process }) => process.kill()));
    await Promise.all(this.members.map(({ peerLine }) => peerLine.stop()));
  }
}

/** Returns '' if there is no answer in time. */
function textOf(url: string, timeoutMs: number): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const sent = get(url, { agent: false }, (response) => {
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('error', () => resolve(''));
      response.on('end', () => resolve(text));
    });
    sent.on('error', () => resolve(''));
    const timer = setTimeout(() => sent.destroy(), timeoutMs);
    sent.on('close', () => {
      clearTimeout(timer);
      resolve('');
    });
  });
}

async function makeCertificates(directory: string) {
  const key = makeKey();
  const authority = await makeAuthority(key, Date.now());
  const signer = signerOf(authority, key);
  const server = await makeServingPair(signer, { dns: ['localhost'], ip: ['127.0.0.1'], refused: [] }, Date.now());
  const client = await makeClientPair(signer, adminDefault, Date.now());
  const write = (name: string, text: string) => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  return {
    caFile: write('ca.crt', authority),
    serverCertFile: write('server.crt', server.certificate),
    serverKeyFile: write('server.key', server.key),
    certFile: write('client.crt', client.certificate),
    keyFile: write('client.key', client.key),
  };
}

/** Finds out whose process owns a local TCP port, by Linux's tables of sockets and descriptors. */
function nameOfOwner(port: number, pids: ReadonlyMap<string, () => number | undefined>): string {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const row = readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find((fields) => fields[1] === address);
  const socket = `socket:[${row?.[9]}]`;
  for (const [name, pidOf] of pids) {
    const pid = pidOf();
    if (pid !== undefined && descriptorsOf(pid).includes(socket)) return name;
  }
  return '';
}

function descriptorsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).map((name) => {
      try {
        return readlinkSync(join(folder, name));
      } catch {
        return '';
      }
    });
  } catch {
    return [];
  }
}

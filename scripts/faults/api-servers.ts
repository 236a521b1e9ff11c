import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../../src/config/config-files.js';
import { HttpApi } from '../simulation/http-api.js';
import type { EtcdMembers } from './etcd-members.js';
import { FaultyLine } from './faulty-line.js';
import { freePort, OwnProcess } from './own-process.js';
import { TcpBalancer } from './tcp-balancer.js';

const startMsMax = 120_000;
/** Above the sum of all deadlines of a request in the server. */
const answerMsMax = 30_000;

interface ApiServersOptions {
  readonly servers: number;
  /** Processes of each server. */
  readonly workers: number;
}

interface ApiServer {
  readonly process: OwnProcess;
  readonly port: number;
  /** One line to each member of etcd. */
  readonly lines: readonly FaultyLine[];
  readonly api: HttpApi;
  /** Reads /readyz through connections of its own. */
  readonly prober: HttpApi;
}

/** Copies what a server has made, which may write the key of its tokens only after it serves. */
async function copyPki(from: string, to: string): Promise<void> {
  while (!existsSync(join(from, 'sa.key'))) await sleep(20);
  cpSync(from, to, { recursive: true, filter: (file) => !file.endsWith('.tmp') });
}

/** Built servers in processes of their own, with one CA, faulty lines to etcd, and a balancer in front. */
export class ApiServers {
  private constructor(
    readonly servers: readonly ApiServer[],
    readonly balancer: TcpBalancer,
    /** Through the balancer. */
    readonly balanced: HttpApi,
  ) {}

  static async start(
    directory: string,
    etcd: EtcdMembers,
    { servers: count, workers }: ApiServersOptions,
  ): Promise<ApiServers> {
    const servers: ApiServer[] = [];
    const first = join(directory, 'server-0');
    for (let n = 0; n < count; n++) {
      const folder = join(directory, `server-${n}`);
      mkdirSync(folder, { recursive: true });
      // Clients trust one CA, and tokens of one server are those of all.
      if (n > 0) await copyPki(join(first, 'pki'), join(folder, 'pki'));
      const lines = await Promise.all(
        etcd.members.map(({ clientPort }) => FaultyLine.start({ upstreamPort: clientPort })),
      );
      const port = await freePort();
      const { caFile, certFile, keyFile } = etcd.tls;
      const process_ = new OwnProcess(`server-${n}`, process.execPath, [
        ...[join(packageRoot, 'bin/keelson'), 'serve', '--bind-address=127.0.0.1', `--secure-port=${port}`],
        ...[`--data-dir=${folder}`, `--kubeconfig-out=${join(folder, 'kubeconfig')}`],
        `--etcd-servers=${lines.map((line) => `https://127.0.0.1:${line.port}`).join(',')}`,
        ...[`--etcd-cafile=${caFile}`, `--etcd-certfile=${certFile}`, `--etcd-keyfile=${keyFile}`],
        ...['--etcd-compaction-interval=0', `--workers=${workers}`],
      ]);
      process_.start();
      await serving(process_);
      const access = { ...accessOf(folder, `https://127.0.0.1:${port}`), timeoutMs: answerMsMax };
      const api = new HttpApi(`server-${n}`, access);
      servers.push({ process: process_, port, lines, api, prober: new HttpApi(`server-${n}`, access) });
    }
    const access = accessOf(first, '');
    const balancer = await TcpBalancer.start({
      backends: servers.map(({ port }) => ({ host: '127.0.0.1', port })),
      ca: access.ca,
      checkPath: '/readyz',
      checkIntervalMs: 500,
    });
    const balanced = new HttpApi('balancer', { ...access, url: balancer.url, timeoutMs: answerMsMax });
    while (balancer.readyPorts.length < count) await sleep(50);
    return new ApiServers(servers, balancer, balanced);
  }

  async restart({ process: server }: ApiServer): Promise<void> {
    await server.kill();
    server.start();
    await serving(server);
  }

  /** Closes all connections of clients, as a cut of their network does. */
  dropConnections(): void {
    for (const api of [this.balanced, ...this.servers.map(({ api }) => api)]) api.close();
  }

  heal(): void {
    for (const { lines } of this.servers) {
      for (const line of lines) {
        line.set('open');
        line.delay(0);
      }
    }
  }

  async stop(): Promise<void> {
    this.balanced.close();
    await this.balancer.stop();
    for (const { process: server, lines, api, prober } of this.servers) {
      api.close();
      prober.close();
      await server.kill();
      await Promise.all(lines.map((line) => line.stop()));
    }
  }
}

/** Resolves when the server has printed its address, which it does when it is ready. */
async function serving(server: OwnProcess): Promise<void> {
  const deadline = Date.now() + startMsMax;
  while (!server.output.includes('Serving ')) {
    if (!server.isRunning || Date.now() > deadline) throw new Error(`${server.name} did not start:\n${server.output}`);
    await sleep(20);
  }
}

function accessOf(folder: string, url: string) {
  const text = readFileSync(join(folder, 'kubeconfig'), 'utf8');
  const pem = (field: string) =>
    Buffer.from(new RegExp(`${field}: *"?([A-Za-z0-9+/=]+)`).exec(text)![1]!, 'base64').toString();
  return {
    url,
    ca: pem('certificate-authority-data'),
    client: { certificate: pem('client-certificate-data'), key: pem('client-key-data') },
  };
}

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { childProcesses } from '../../scripts/child-processes.js';
import { killedAtExit } from '../../scripts/killed-at-exit.js';
import { freePorts } from './ports.js';

const top = join(__dirname, '../..');
const startMsMax = 120_000;

/** The built server in a process of its own, which can be killed and restarted at the same address on its data. */
export class ServerProcess {
  private child: ChildProcess | undefined;
  /** The end of the output of all its starts. */
  output = '';

  private constructor(
    readonly directory: string,
    readonly port: number,
    private readonly flags: readonly string[],
  ) {}

  static async start(directory: string, flags: readonly string[]): Promise<ServerProcess> {
    if (!existsSync(join(top, 'dist/src/main.js'))) throw new Error('the server is not built: run "npm run build"');
    const server = new ServerProcess(directory, (await freePorts(1))[0]!, flags);
    await server.start();
    return server;
  }

  /** Resolves when it is ready. */
  async start(): Promise<void> {
    const child = spawn(
      process.execPath,
      [
        join(top, 'bin/keelson'),
        'serve',
        '--bind-address=127.0.0.1',
        `--secure-port=${this.port}`,
        `--data-dir=${this.directory}`,
        `--kubeconfig-out=${this.kubeconfig}`,
        ...this.flags,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.child = child;
    killedAtExit(child);
    child.once('exit', () => {
      if (this.child === child) this.child = undefined;
    });
    let late: NodeJS.Timeout | undefined;
    const serving = new Promise<void>((resolve, reject) => {
      const failed = (why: string) => reject(new Error(`the server ${why}:\n${this.output}`));
      late = setTimeout(() => failed('did not start in time'), startMsMax);
      child.once('exit', (code) => failed(`ended with ${code}`));
      child.stderr.on('data', (chunk: Buffer) => (this.output = (this.output + chunk.toString()).slice(-8_000)));
      child.stdout.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
        if (chunk.toString().includes('Serving ')) resolve();
      });
    });
    try {
      await serving;
    } catch (error) {
      await this.kill();
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  async kill(): Promise<void> {
    await this.stop('SIGKILL');
  }

  /** Resolves with the exit code; null if it was ended by a signal. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    const { child } = this;
    if (!child) return null;
    this.child = undefined;
    const exited = once(child, 'exit') as Promise<[number | null]>;
    child.kill(signal);
    return (await exited)[0];
  }

  /** The worker processes of the server. */
  get workers(): number[] {
    const pid = this.child?.pid;
    return pid === undefined ? [] : childProcesses(pid);
  }

  /** URL and credentials of an administrator; the same after every start. */
  get access(): { url: string; ca: string; client: { certificate: string; key: string } } {
    const text = readFileSync(this.kubeconfig, 'utf8');
    const pem = (field: string) =>
      Buffer.from(new RegExp(`${field}: *"?([A-Za-z0-9+/=]+)`).exec(text)![1]!, 'base64').toString();
    return {
      url: `https://127.0.0.1:${this.port}`,
      ca: pem('certificate-authority-data'),
      client: { certificate: pem('client-certificate-data'), key: pem('client-key-data') },
    };
  }

  private get kubeconfig(): string {
    return join(this.directory, 'kubeconfig');
  }
}

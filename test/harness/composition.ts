import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findEtcd } from '../../scripts/etcd.js';
import { killedAtExit } from '../../scripts/killed-at-exit.js';
import { packageRoot } from '../../src/config/config-files.js';
import { packagedDocuments } from './packaging.js';
import { freePorts } from './ports.js';

/** A service of packaging/compose/compose.yaml, with the fields of its anchor. */
interface Service {
  readonly image: string;
  readonly user?: string;
  readonly command: readonly string[];
  readonly volumes: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
}

type Written = Partial<Service> & { readonly '<<'?: Service };

export function composedServices(): Record<string, Service> {
  const [{ services }] = packagedDocuments<{ services: Record<string, Written> }>('compose/compose.yaml') as [
    { services: Record<string, Written> },
  ];
  const merged = Object.entries(services).map(([name, { '<<': anchor, ...own }]) => [name, { ...anchor, ...own }]);
  return Object.fromEntries(merged) as Record<string, Service>;
}

/** A container of the compose file as a process of this machine, which can be killed and started again. */
export class ComposedProcess {
  private child: ChildProcess | undefined;
  output = '';

  constructor(
    private readonly program: readonly string[],
    private readonly words: readonly string[],
    private readonly environment: Readonly<Record<string, string>>,
  ) {}

  get isRunning(): boolean {
    return this.child !== undefined;
  }

  start(): void {
    const [file, ...first] = this.program;
    const child = spawn(file!, [...first, ...this.words], {
      env: { PATH: process.env['PATH'] ?? '', ...this.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = killedAtExit(child);
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (this.output = (this.output + chunk.toString()).slice(-8_000)));
    child.once('exit', () => {
      if (this.child === child) this.child = undefined;
    });
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const { child } = this;
    if (!child) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
}

/** Addresses and directories of the containers on this machine: each port of a service becomes a free one. */
export class Composition {
  private readonly ports = new Map<string, number>();

  private constructor(
    private readonly files: string,
    private readonly directory: string,
  ) {}

  /** `files` is filled by make-certificates.sh; data of the services are stored in `directory`. */
  static async plan(services: readonly string[], files: string, directory: string): Promise<Composition> {
    const composition = new Composition(files, directory);
    const free = await freePorts(services.length * 2);
    for (const name of services) {
      const [first, second] = name.startsWith('etcd') ? [2379, 2380] : [6443, 6444];
      composition.ports.set(`${name}:${first}`, free.pop()!);
      composition.ports.set(`${name}:${second}`, free.pop()!);
    }
    return composition;
  }

  port(service: string, port: number): number {
    return this.ports.get(`${service}:${port}`)!;
  }

  /** A service as a process, with its command and environment. */
  process(name: string, { command, environment = {} }: Pick<Service, 'command' | 'environment'>): ComposedProcess {
    const words = this.words(name, command);
    if (name.startsWith('etcd'))
      return new ComposedProcess([findEtcd()!], [...words.slice(1), '--unsafe-no-fsync', '--log-level=warn'], {});
    const program = [process.execPath, join(packageRoot, 'bin/keelson')];
    return new ComposedProcess(program, words, { ...environment });
  }

  /** A command of a container with the ports and paths of this machine. */
  words(name: string, command: readonly string[]): string[] {
    const own = join(this.directory, name);
    mkdirSync(own, { recursive: true, mode: 0o700 });
    return command.map((word) => this.here(name, own, word));
  }

  private here(name: string, own: string, word: string): string {
    let text = word
      .replace(/=\/etc\/keelson\/pki/, `=${this.files}/pki`)
      .replace(/=\/etc\/(keelson\/)?etcd\//, `=${this.files}/etcd/`)
      .replace(/=\/(data|run\/keelson)(?=\/|$)/, `=${own}`)
      .replace(/0\.0\.0\.0:(\d+)/, (_, port: string) => `127.0.0.1:${this.port(name, Number(port))}`)
      .replace(/^--secure-port=(\d+)$/, (_, port: string) => `--secure-port=${this.port(name, Number(port))}`)
      .replace(/=0\.0\.0\.0$/, '=127.0.0.1');
    for (const [address, port] of this.ports) text = text.replaceAll(`//${address}`, `//127.0.0.1:${port}`);
    return text;
  }
}

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killedAtExit } from '../killed-at-exit.js';
import { packageRoot } from '../../src/config/config-files.js';
import type { UserName } from './attack.js';
import type { Observation, ObserverCommand } from './observer.js';

const startMsMax = 60_000;
const tokens: Readonly<Record<UserName, string>> = { admin: 'attack-admin', user: 'attack-user', poor: 'attack-poor' };

export type AttackedStore = 'memory' | 'embedded';

/** The built server in a process of its own, with an observer inside that collects garbage and takes profiles. */
export class ServerUnderAttack {
  /** Error lines that it wrote to stderr. */
  readonly complaints: string[] = [];
  private exitedWith: string | undefined;
  private rest = '';

  private constructor(
    private readonly directory: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(store: AttackedStore): Promise<ServerUnderAttack> {
    const observer = join(packageRoot, 'dist/scripts/attack/observer.js');
    if (!existsSync(observer)) throw new Error('the server is not built: run "npm run build"');
    const directory = mkdtempSync(join(tmpdir(), 'keelson-attack-'));
    const tokenFile = join(directory, 'tokens.csv');
    writeFileSync(
      tokenFile,
      `${tokens.admin},attack-admin,1,"system:masters"\n${tokens.user},attack-user,2,"attackers"\n${tokens.poor},attack-poor,3,"poor"\n`,
      { mode: 0o600 },
    );
    const child = fork(
      join(packageRoot, 'bin/keelson'),
      [
        'serve',
        '--bind-address=127.0.0.1',
        '--secure-port=0',
        `--data-dir=${directory}`,
        `--storage-backend=${store}`,
        `--token-auth-file=${tokenFile}`,
        '--authorization-mode=Node,RBAC',
        '--runtime-config=api/all=true',
        '--feature-gates=CBORServingAndStorage=true',
      ],
      { execArgv: ['--expose-gc', '--import', observer], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
    );
    const server = new ServerUnderAttack(directory, child);
    try {
      await server.ready();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Undefined while it runs. */
  get exit(): string | undefined {
    return this.exitedWith;
  }

  url = '';
  get ca(): string {
    return readFileSync(join(this.directory, 'pki/ca.crt'), 'utf8');
  }
  tokenOf(user: UserName): string {
    return tokens[user];
  }

  /** Sends a command to the observer inside the server. */
  async observe(command: ObserverCommand): Promise<Observation> {
    const answer = once(this.child, 'message') as Promise<[Observation]>;
    this.child.send({ command });
    return (await answer)[0];
  }

  async stop(): Promise<void> {
    if (this.exitedWith === undefined) {
      const exited = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await exited;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async ready(): Promise<void> {
    const { child } = this;
    killedAtExit(child);
    let output = '';
    await new Promise<void>((resolve, reject) => {
      const failed = (why: string) => reject(new Error(`the server ${why}:\n${output}${this.complaints.join('\n')}`));
      const late = setTimeout(() => failed('did not start in time'), startMsMax);
      child.once('exit', (code, signal) => {
        this.exitedWith = `code ${code}, signal ${signal}`;
        clearTimeout(late);
        failed(`ended with ${this.exitedWith}`);
      });
      child.stderr!.on('data', (chunk: Buffer) => this.listen(chunk.toString()));
      child.stdout!.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const url = /^Serving (https:\S+)/m.exec(output)?.[1];
        if (url === undefined) return;
        this.url = url;
        clearTimeout(late);
        resolve();
      });
    });
  }

  /** Keeps log lines of level error and above, and lines that are not log lines, such as stacks. */
  private listen(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop()!.slice(-10_000);
    for (const line of lines) {
      const level = Number(/^\{"level":(\d+)/.exec(line)?.[1] ?? 60);
      if (level >= 50 && !isHarmless(line) && this.complaints.length < 200) this.complaints.push(line.slice(0, 2_000));
    }
  }
}

/** Warnings of Node at start-up, and the documented 500 of a full node port range. */
const isHarmless = (line: string) =>
  line === '' || /ExperimentalWarning|--trace-warnings|^npm |failed to allocate a nodePort: range is full/.test(line);

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { killedAtExit } from '../../scripts/killed-at-exit.js';

/** The behaviour of a method of plugin-server.mjs. */
export type PluginBehaviour = 'ok' | 'hang' | 'error' | 'garbage' | 'huge';

/** A plug-in of plugin-server.mjs in a process of its own, on a Unix socket. */
export class PluginProcess<State extends object> {
  private readonly directory = mkdtempSync(join(tmpdir(), 'keelson-plugin-'));
  readonly socket = join(this.directory, 'plugin.sock');
  private child: ChildProcess | undefined;
  private lines: Interface | undefined;

  /** `program` is a file of this folder. */
  constructor(private readonly program: string) {}

  async start(state: Partial<State> = {}): Promise<void> {
    const child = spawn(process.execPath, [join(__dirname, this.program), this.socket], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    killedAtExit(child);
    this.child = child;
    this.lines = createInterface(child.stdout);
    await once(this.lines, 'line');
    await this.ask({ set: state });
  }

  /** Ends the process as a crash would. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    // The file of a Unix socket cannot be bound again.
    rmSync(this.socket, { force: true });
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  protected async ask(order: object): Promise<Record<string, unknown>> {
    const answer = once(this.lines!, 'line') as Promise<[string]>;
    this.child!.stdin!.write(`${JSON.stringify(order)}\n`);
    return JSON.parse((await answer)[0]) as Record<string, unknown>;
  }
}

import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { childProcesses } from '../child-processes.js';
import { killedAtExit } from '../killed-at-exit.js';

/** A program that can be killed, paused and started again. */
export class OwnProcess {
  private child: ChildProcess | undefined;
  /** The end of its output since its last start. */
  output = '';

  constructor(
    readonly name: string,
    private readonly program: string,
    private readonly words: readonly string[],
  ) {}

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** The processes that it has started: the workers of a server. */
  get children(): number[] {
    return this.pid === undefined ? [] : childProcesses(this.pid);
  }

  get isRunning(): boolean {
    return this.child !== undefined;
  }

  start(): void {
    this.output = '';
    const child = spawn(this.program, this.words, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = killedAtExit(child);
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (this.output = (this.output + chunk.toString()).slice(-500_000)));
    child.once('exit', () => {
      if (this.child === child) this.child = undefined;
    });
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.child?.kill(signal);
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const { child } = this;
    if (!child) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
}

/** Returns a port below the ephemeral ones of the system, so that a restarted process finds it free. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    } catch {
      continue;
    }
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

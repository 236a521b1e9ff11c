import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killedAtExit } from '../../scripts/killed-at-exit.js';
import { packageRoot } from '../../src/config/config-files.js';
import type { JoiningAgent } from './joining-agents.js';
import { startProgram } from './started-program.js';

const program = join(packageRoot, 'bin/keelson');

/** The built agent in a process of its own, with the directory and name of a JoiningAgent, which is not started itself. */
export class AgentProcess {
  private running: Awaited<ReturnType<typeof startProgram>> | undefined;

  constructor(readonly files: JoiningAgent) {}

  get url(): string {
    return this.running!.url;
  }

  /** The output and the log of the agent since its start. */
  get output(): string {
    return this.running!.output();
  }

  /** Resolves when the agent serves. */
  async start(flags: readonly string[]): Promise<void> {
    const words = [program, 'agent', ...this.files.flags, ...flags];
    this.running = await startProgram(process.execPath, words, { cwd: this.files.directory });
  }

  /** Starts the agent and kills it after a time, whatever it does then. */
  async startAndKill(flags: readonly string[], afterMs: number): Promise<void> {
    const words = [program, 'agent', ...this.files.flags, ...flags];
    const child = killedAtExit(spawn(process.execPath, words, { stdio: 'ignore' }));
    const ended = once(child, 'exit');
    await sleep(afterMs);
    child.kill('SIGKILL');
    await ended;
  }

  kill(): Promise<number | null> {
    return this.stop('SIGKILL');
  }

  /** Resolves with the exit code; null after SIGKILL. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    const { running } = this;
    this.running = undefined;
    return running ? running.stop(signal) : null;
  }

  async remove(): Promise<void> {
    await this.kill();
    await this.files.remove();
  }
}

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/config-files.js';
import type { Hold, ProbeStart } from './probe.js';

/** Runs the probe in a process of its own. */
export class HoldMeter {
  private constructor(private readonly child: ChildProcess) {}

  static async start(server: ProbeStart): Promise<HoldMeter> {
    const child = fork(join(packageRoot, 'dist/scripts/attack/probe.js'), ['probe'], { execArgv: [] });
    const meter = new HoldMeter(child);
    try {
      await meter.ask({ start: server });
    } catch (error) {
      meter.stop();
      throw error;
    }
    return meter;
  }

  /** Forgets earlier holds. */
  async reset(): Promise<void> {
    await this.ask('reset');
  }

  /** Returns the longest hold since reset(). */
  async read(): Promise<Hold> {
    return (await this.ask('read')) as Hold;
  }

  stop(): void {
    this.child.removeAllListeners();
    this.child.kill('SIGKILL');
  }

  private ask(command: unknown): Promise<unknown> {
    const ended = new AbortController();
    return new Promise((resolve, reject) => {
      const gone = () => reject(new Error('the server takes no connection that asks for /livez'));
      this.child.once('exit', gone);
      once(this.child, 'message', { signal: ended.signal }).then(
        ([answer]) => {
          this.child.off('exit', gone);
          resolve(answer);
        },
        () => undefined,
      );
      this.child.send(command as object);
    });
  }
}

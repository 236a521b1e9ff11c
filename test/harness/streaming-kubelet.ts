import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { killedAtExit } from '../../scripts/killed-at-exit.js';

const program = join(__dirname, 'streaming/kubelet-process.mjs');

interface KubeletState {
  /** Commands that run now. */
  readonly processes: number;
  /** Connections to it that are open. */
  readonly sockets: number;
  /** Its requests since the last call. */
  readonly requests: readonly { readonly path: string; readonly upgrade: string; readonly protocols: string }[];
  /** Memory of the process. */
  readonly rss: number;
}

/** A process with the streaming endpoints of a kubelet, which runs commands on this machine. */
export class StreamingKubelet {
  private constructor(
    readonly port: number,
    private readonly child: ChildProcess,
    private readonly lines: AsyncIterator<string>,
  ) {}

  static async start(tls?: { readonly cert: string; readonly key: string }): Promise<StreamingKubelet> {
    if (!existsSync(join(__dirname, '../../dist/src/remote-streams'))) {
      throw new Error('the server is not built: run "npm run build"');
    }
    const child = killedAtExit(spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] }));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    child.stdin.write(`${JSON.stringify({ tls })}\n`);
    const { port } = JSON.parse((await lines.next()).value as string) as { port: number };
    return new StreamingKubelet(port, child, lines);
  }

  async state(): Promise<KubeletState> {
    this.child.stdin!.write('\n');
    return JSON.parse((await this.lines.next()).value as string) as KubeletState;
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }
}

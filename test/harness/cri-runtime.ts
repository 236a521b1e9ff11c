import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { killedAtExit } from '../../scripts/killed-at-exit.js';

type RuntimeBehaviour = 'ok' | 'unimplemented' | 'error' | 'hang' | 'garbage' | 'huge';
type LogLine = readonly [ms: number, stream: 'stdout' | 'stderr', tag: 'P' | 'F', text: string];

interface RuntimeContainer {
  readonly name: string;
  readonly image?: string;
  readonly state?: 'created' | 'running' | 'exited' | 'unknown';
  readonly attempt?: number;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly startedMs?: number;
  readonly finishedMs?: number;
  readonly logDirectory?: string;
  readonly log?: readonly LogLine[];
}

interface RuntimePod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly ip?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly isReady?: boolean;
  readonly createdMs?: number;
  readonly containers?: readonly RuntimeContainer[];
}

/** State of cri-runtime-process.mjs. */
interface CriRuntimeState {
  readonly pods: readonly RuntimePod[];
  readonly images: readonly { id: string; repoTags: string[]; repoDigests: string[]; size: number }[];
  /** By method; `all` is that of the others. */
  readonly behaviour: Readonly<Record<string, RuntimeBehaviour>>;
  readonly networkReady: boolean;
  readonly checkpointDelayMs: number;
  /** Behaviour of the server of streams. */
  readonly streams: 'echo' | 'run' | 'drop' | 'refuse';
}

interface RuntimeReport {
  readonly calls: Readonly<Record<string, number>>;
  /** The last requests, with their fields. */
  readonly requests: readonly Readonly<Record<string, unknown>>[];
}

/** A container runtime in a process of its own. */
export class CriRuntimeProcess {
  readonly directory = mkdtempSync(join(tmpdir(), 'keelson-cri-'));
  readonly socket = join(this.directory, 'cri.sock');
  private child: ChildProcess | undefined;
  private lines: Interface | undefined;

  get endpoint(): string {
    return `unix://${this.socket}`;
  }

  async start(state: Partial<CriRuntimeState> = {}): Promise<void> {
    const file = join(this.directory, 'state.json');
    writeFileSync(file, JSON.stringify(state));
    const child = spawn(process.execPath, [join(__dirname, 'cri-runtime-process.mjs'), this.socket, file], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    killedAtExit(child);
    this.child = child;
    this.lines = createInterface(child.stdout);
    await once(this.lines, 'line');
  }

  /** Changes the state. Resolves with the calls so far. */
  set(state: Partial<CriRuntimeState>): Promise<RuntimeReport> {
    return this.send({ set: state });
  }

  report(): Promise<RuntimeReport> {
    return this.send({});
  }

  /** Appends lines to a log file. */
  async append(file: string, lines: readonly LogLine[]): Promise<void> {
    await this.send({ append: { file, lines } });
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

  private async send(request: object): Promise<RuntimeReport> {
    const answer = once(this.lines!, 'line') as Promise<[string]>;
    this.child!.stdin!.write(`${JSON.stringify(request)}\n`);
    return JSON.parse((await answer)[0]) as RuntimeReport;
  }
}

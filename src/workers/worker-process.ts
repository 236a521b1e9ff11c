import { fork, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createInterface } from 'node:readline';
import { every, type Clock } from '../std/clock.js';
import { Channel } from './channel.js';
import { messageKinds as kinds } from './message-kinds.js';
import type { ConnectionTaker } from './shared-port.js';
import type { StartMessage, WorkerMessage } from './worker-messages.js';
import { workerWord } from './worker-word.js';

/** A worker reports its state twice a second. One that has not done so for so long gets no connections. */
const silenceMsMax = 2_000;
/**
 * The most checks in a row without a report between them: a worker beyond it is stuck, and is killed. Checks are counted,
 * not time: after a suspension of this process its timers run before it reads the reports.
 */
const silentChecksMax = 12;
const silenceCheckMs = 5_000;

/** The file descriptor of the channel in the worker. */
export const channelDescriptor = 4;

export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** It was killed because it did not report for a minute. */
  readonly wasStuck: boolean;
}

/** A child process that serves requests. */
export class WorkerProcess implements ConnectionTaker {
  readonly channel: Channel;
  /** Resolves when the process has ended. */
  readonly ended: Promise<WorkerEnd>;
  openConnections = 0;
  private readonly child: ChildProcess;
  /** Connections that the worker has not confirmed, in their order. */
  private readonly passed: Socket[] = [];
  private isReported = false;
  private reportedMs = -Infinity;
  private silentChecks = 0;
  private wasStuck = false;
  private isStopping = false;

  constructor(
    readonly index: number,
    program: string,
    private readonly clock: Clock,
    /** Gets each line of its log. */
    print: (line: string) => void,
  ) {
    this.child = fork(program, [workerWord], {
      // Its log goes through this process, so that lines of any length stay whole.
      stdio: ['ignore', 'inherit', 'pipe', 'ipc', 'pipe'],
      serialization: 'advanced',
    });
    createInterface({ input: this.child.stderr! }).on('line', print);
    this.channel = new Channel(this.child.stdio[channelDescriptor] as Duplex);
    const silenceChecks = every(clock, silenceCheckMs, () => this.checkSilence());
    this.ended = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => resolve({ code, signal, wasStuck: this.wasStuck }));
      // A later error, as of a signal that cannot be sent, needs a listener too.
      this.child.on('error', () => resolve({ code: null, signal: null, wasStuck: this.wasStuck }));
    });
    void this.ended.then(() => {
      this.isStopping = true;
      silenceChecks.cancel();
      for (const socket of this.passed.splice(0)) socket.destroy();
    });
    this.channel.take(kinds.connectionTaken, () => this.passed.shift()?.destroy());
    this.channel.take(kinds.isReady, (body) => {
      this.isReported = body.byte() === 1;
      this.reportedMs = clock.monotonicMs();
      this.silentChecks = 0;
    });
    this.channel.take(kinds.connectionsClosed, (body) => (this.openConnections -= body.uint()));
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get isReady(): boolean {
    return !this.isStopping && this.isReported && this.clock.monotonicMs() - this.reportedMs <= silenceMsMax;
  }

  start(message: StartMessage): void {
    this.send(message);
  }

  /**
   * Gives a connection to the worker. It stays open here until the worker has it: if that ends before, the connection is
   * closed, and the client makes another. Node would forget it.
   */
  take(socket: Socket): void {
    this.openConnections++;
    this.passed.push(socket);
    socket.on('error', () => undefined);
    this.child.send({ type: 'connection' } satisfies WorkerMessage, socket, { keepOpen: true }, (error) => {
      if (error) socket.destroy();
    });
  }

  send(message: WorkerMessage): void {
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  private checkSilence(): void {
    // Until its first report it starts, which takes as long as the store.
    const isStarting = this.reportedMs === -Infinity;
    if (isStarting || ++this.silentChecks <= silentChecksMax) return;
    this.wasStuck = true;
    this.child.kill('SIGKILL');
  }

  /** Lets the worker end its requests and exit. Resolves when it has, at the latest after the time. */
  async stop(timeoutMs: number): Promise<void> {
    this.isStopping = true;
    this.send({ type: 'stop' });
    const timer = this.clock.after(timeoutMs, () => this.child.kill('SIGKILL'));
    await this.ended;
    timer.cancel();
  }
}

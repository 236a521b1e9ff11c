import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { connect, type TLSSocket } from 'node:tls';

/**
 * Polls /livez of the server under attack on a connection of its own, and records the longest wait for an answer. It
 * runs in a process of its own, so that building and sending hostile requests does not delay it.
 *
 * Each wait is measured by the clock, and in CPU time of the server's main thread. Other programs lengthen the first;
 * a call that blocks without using the CPU is missing in the second.
 */
export interface ProbeStart {
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  readonly pid: number;
}

/** `reset` forgets earlier holds; `read` reports the longest one after the pending question was answered. */
type ProbeCommand = { readonly start: ProbeStart } | 'reset' | 'read';

export interface Hold {
  readonly wallMs: number;
  /** NaN if the system does not provide it. */
  readonly cpuMs: number;
}

const pauseMs = 2;
const request = Buffer.from('GET /livez HTTP/1.1\r\nhost: keelson\r\n\r\n');
const none: Hold = { wallMs: 0, cpuMs: 0 };

/** The smaller of both: the hold that counts. */
export const heldMs = ({ wallMs, cpuMs }: Hold): number => (Number.isNaN(cpuMs) ? wallMs : Math.min(wallMs, cpuMs));

/** Returns a function that reads the CPU time of a process's main thread from schedstat, whose first field is in ns. */
function cpuClock(pid: number): () => number {
  const file = `/proc/${pid}/task/${pid}/schedstat`;
  if (!existsSync(file)) return () => Number.NaN;
  const bytes = Buffer.alloc(100);
  return () => {
    // Opened for each read: the kernel generates the text on open.
    const opened = openSync(file, 'r');
    const length = readSync(opened, bytes);
    closeSync(opened);
    return Number(bytes.toString('latin1', 0, length).split(' ')[0]) / 1e6;
  };
}

class Probe {
  private worst = none;
  private sentAt = 0;
  private cpuAt = 0;
  private isAsking = false;
  private received = '';
  private readonly waiting: (() => void)[] = [];
  private readonly cpuMs: () => number;

  constructor(
    private socket: TLSSocket,
    pid: number,
  ) {
    this.cpuMs = cpuClock(pid);
    this.use(socket);
    this.ask();
  }

  /** Switches to this connection: servers close old ones. */
  use(socket: TLSSocket): void {
    this.socket = socket;
    this.received = '';
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    if (this.isAsking) socket.write(request);
  }

  reset(): void {
    this.worst = none;
    // The pending question also waits for the next request: it counts from here on.
    this.sentAt = performance.now();
    this.cpuAt = this.cpuMs();
  }

  tell(): void {
    const tell = () => process.send!(this.worst);
    if (this.isAsking) this.waiting.push(tell);
    else tell();
  }

  private ask(): void {
    this.isAsking = true;
    this.sentAt = performance.now();
    this.cpuAt = this.cpuMs();
    this.socket.write(request);
  }

  private read(chunk: Buffer): void {
    this.received += chunk.toString('latin1');
    const head = this.received.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(this.received)?.[1] ?? 0);
    if (this.received.length < head + 4 + length) return;
    this.received = '';
    const hold = { wallMs: performance.now() - this.sentAt, cpuMs: this.cpuMs() - this.cpuAt };
    if (heldMs(hold) > heldMs(this.worst)) this.worst = hold;
    this.isAsking = false;
    this.waiting.splice(0).forEach((tell) => tell());
    setTimeout(() => this.ask(), pauseMs);
  }
}

/** Runs only as a process of its own. */
if (process.send && process.argv[2] === 'probe') {
  let probe: Probe | undefined;
  const open = ({ host, port, ca, pid }: ProbeStart) => {
    let isOpen = false;
    const socket = connect({ host, port, ca, ALPNProtocols: ['http/1.1'] }, () => {
      isOpen = true;
      if (probe) return probe.use(socket);
      probe = new Probe(socket, pid);
      process.send!('ready');
    });
    socket.on('error', () => undefined);
    // A server that refuses connections is gone.
    socket.on('close', () => (isOpen ? open({ host, port, ca, pid }) : process.exit(1)));
  };
  process.on('message', (command: ProbeCommand) => {
    if (command === 'reset') {
      probe!.reset();
      process.send!('reset');
    } else if (command === 'read') probe!.tell();
    else open(command.start);
  });
  process.on('disconnect', () => process.exit(0));
}

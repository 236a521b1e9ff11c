import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import type { Clock, Timer } from '../std/clock.js';
import { GrpcError, grpcStatus, NotConnectedError } from './grpc-error.js';
import { Http2Call, type CallListener } from './http2-call.js';

/** etcd accepts one ping per 5 s from a client with open calls, and none from a client without. */
const keepaliveMs = 10_000;
const keepaliveAnswerMs = 5_000;
/** Least time between two pings, and the time for the answer to one that a late response has caused. */
const pingIntervalMsMin = 5_500;
const verifyAnswerMs = 1_000;

/** A connection to a member, until it closes or GOAWAY forbids new calls. Only open calls keep the process alive. */
export class Http2Connection {
  private readonly calls = new Set<Http2Call>();
  private isLeaving = false;
  private loss: GrpcError | undefined;
  private heartbeat: Timer | undefined;
  private verification: Timer | undefined;
  private lastPingMs = -Infinity;
  /** One timer for the earliest deadline. Finished calls are not removed from it. */
  private sweep: { readonly atMs: number; readonly timer: Timer } | undefined;

  constructor(
    private readonly session: ClientHttp2Session,
    private readonly clock: Clock,
    private readonly messageBytesMax?: number,
  ) {
    session.unref();
    session.on('goaway', () => (this.isLeaving = true));
    session.on('error', (error: Error) => this.lose(error.message));
    session.on('close', () => this.lose('the connection was closed'));
    this.beat();
  }

  get isOpen(): boolean {
    return !this.isLeaving && !this.loss && !this.session.closed && !this.session.destroyed;
  }

  /** Throws NotConnectedError if the connection accepts no more calls. */
  start(headers: OutgoingHttpHeaders, listener: CallListener, deadlineMs: number): Http2Call {
    if (!this.isOpen) throw new NotConnectedError('the connection is closing');
    const call = new Http2Call(
      this.request(headers),
      listener,
      this.lossOfConnection,
      this.callIsOver,
      deadlineMs,
      this.messageBytesMax,
    );
    if (this.calls.size === 0) this.session.ref();
    this.calls.add(call);
    if (deadlineMs !== Infinity) this.sweepAt(deadlineMs);
    return call;
  }

  private request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    try {
      return this.session.request(headers, { endStream: false });
    } catch (cause) {
      throw new NotConnectedError('the connection accepts no calls', { cause });
    }
  }

  /** Ends all calls with this error. */
  destroy(error: GrpcError): void {
    this.loss ??= error;
    this.heartbeat?.cancel();
    this.verification?.cancel();
    this.sweep?.timer.cancel();
    for (const call of this.calls) call.cancel(this.loss);
    this.session.destroy();
  }

  private lose(reason: string): void {
    this.destroy(new GrpcError(grpcStatus.unavailable, reason));
  }

  private readonly lossOfConnection = (): GrpcError | undefined =>
    this.loss ??
    (this.session.destroyed ? new GrpcError(grpcStatus.unavailable, 'the connection was lost') : undefined);

  private readonly callIsOver = (call: Http2Call): void => {
    this.calls.delete(call);
    if (this.calls.size === 0 && !this.session.destroyed) this.session.unref();
  };

  private sweepAt(deadlineMs: number): void {
    if (this.sweep && this.sweep.atMs <= deadlineMs) return;
    this.sweep?.timer.cancel();
    const timer = this.clock.after(Math.max(0, deadlineMs - this.clock.now()), () => {
      this.sweep = undefined;
      this.endOverdue();
    });
    this.sweep = { atMs: deadlineMs, timer };
  }

  private endOverdue(): void {
    const nowMs = this.clock.now();
    let next = Infinity;
    for (const call of this.calls) {
      if (call.deadlineMs <= nowMs) call.cancel(new GrpcError(grpcStatus.deadlineExceeded, 'Deadline exceeded'));
      else next = Math.min(next, call.deadlineMs);
    }
    if (next !== Infinity) this.sweepAt(next);
  }

  /**
   * Asks the peer for a sign of life, because a response is late. If none comes the connection is lost, long before the
   * next keepalive would find out.
   */
  verify(): void {
    if (this.verification || this.lossOfConnection()) return;
    const dueMs = Math.max(0, this.lastPingMs + pingIntervalMsMin - this.clock.monotonicMs());
    if (dueMs > 0) {
      this.verification = this.clock.after(dueMs, () => {
        this.verification = undefined;
        if (this.calls.size > 0) this.verify();
      });
      return;
    }
    // An answer that arrived while this process was busy is read before setImmediate() runs.
    this.verification = this.clock.after(verifyAnswerMs, () =>
      setImmediate(() => this.verification && this.lose('a ping was not answered')),
    );
    this.ping(() => {
      this.verification?.cancel();
      this.verification = undefined;
    });
  }

  private beat(): void {
    this.heartbeat = this.clock.after(keepaliveMs, () => {
      if (this.calls.size === 0) return this.beat();
      this.heartbeat = this.clock.after(keepaliveAnswerMs, () => this.lose('a ping was not answered'));
      this.ping(() => {
        this.heartbeat?.cancel();
        this.beat();
      });
    });
  }

  private ping(answered: () => void): void {
    // A session that was destroyed in this turn has not emitted 'close' yet, and would throw.
    if (this.session.destroyed || this.session.closed) return;
    this.lastPingMs = this.clock.monotonicMs();
    this.session.ping((error) => {
      if (!error && !this.loss) answered();
    });
  }
}

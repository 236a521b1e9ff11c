import type { ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { every, type Clock, type Timer } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import type { TimerWheel } from '../std/timer-wheel.js';
import { awaitAtStop } from './awaited-answers.js';
import type { ProtocolServers } from './protocol-servers.js';
import { isHttp2Response, type AnyRequest, type AnyResponse } from './raw-messages.js';
import { SessionPeer, type SilenceBounds } from './session-peer.js';

interface ConnectionBounds extends SilenceBounds {
  readonly idleTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly unreadBodyTimeoutMs: number;
  /** Probability that an HTTP/2 request closes its session with GOAWAY (--goaway-chance). */
  readonly goawayChance: number;
}

interface SessionState {
  streams: number;
  idleSinceMs: number;
  /** True once the client has sent its connection preface. */
  isOpen: boolean;
  readonly peer: SessionPeer;
}

const chanceSteps = 1_000_000;

/** Time for the last frames to be sent after the last response. */
const flushMsMax = 500;
/** Interval of checks whether the end of a response has been sent. */
const stopBodyRetryMs = 50;

/** The connections of one server. Closes idle and unresponsive ones, and all of them when the server stops. */
export class Connections {
  /** All TCP connections, including those that do not finish their TLS handshake. */
  private readonly tcpSockets = new Set<Socket>();
  /** HTTP/1.1 connections with their pending responses; several if the client pipelines requests. */
  private readonly http1 = new Map<Socket, ServerResponse[]>();
  private readonly sessions = new Map<ServerHttp2Session, SessionState>();
  private readonly sweeping: Timer;
  private isClosing = false;
  private inFlight = 0;
  private whenQuiet: (() => void) | undefined = undefined;
  /** Called when the last TCP connection has been closed. */
  private whenEmpty: (() => void) | undefined = undefined;

  constructor(
    private readonly servers: ProtocolServers,
    private readonly bounds: ConnectionBounds,
    private readonly dependencies: { readonly clock: Clock; readonly rng: Rng; readonly wheel: TimerWheel },
  ) {
    const { front, http1, http2 } = servers;
    front.on('connection', (socket: Socket) => this.addTcp(socket));
    http1.on('connection', (socket: Socket) => this.addHttp1(socket));
    http2.on('session', (session) => this.addSession(session));
    const shortest = Math.min(bounds.idleTimeoutMs, bounds.headersTimeoutMs, bounds.pingTimeoutMs);
    this.sweeping = every(dependencies.clock, Math.max(Math.min(shortest / 8, 2_000), 20), () => this.sweep());
  }

  get open(): number {
    return this.tcpSockets.size;
  }

  /** Registers a request of either protocol. Called before anything else handles it. */
  begin(request: AnyRequest, response: AnyResponse): void {
    this.inFlight++;
    let isAwaited = true;
    const release = () => {
      if (isAwaited && --this.inFlight === 0) this.whenQuiet?.();
      isAwaited = false;
    };
    awaitAtStop(response, release);
    if (isHttp2Response(response)) this.beginHttp2(response, release);
    else this.beginHttp1(request, response, release);
  }

  private beginHttp1(request: AnyRequest, response: ServerResponse, release: () => void): void {
    const { socket } = request;
    const pending = this.http1.get(socket);
    pending?.push(response);
    if (this.isClosing) response.shouldKeepAlive = false;
    response.on('close', () => {
      release();
      if (pending) remove(pending, response);
      if (this.isClosing && !pending?.length) socket.destroySoon();
      else if (!request.complete) this.boundUnread(request, () => socket.destroy());
    });
  }

  private beginHttp2(response: Http2ServerResponse, release: () => void): void {
    const { stream } = response;
    const session = stream.session as ServerHttp2Session;
    const state = this.sessions.get(session);
    if (state) state.streams++;
    const { goawayChance } = this.bounds;
    // Open streams continue; the client reconnects for others, possibly to another server behind a load balancer.
    if (goawayChance > 0 && this.dependencies.rng.below(chanceSteps) < goawayChance * chanceSteps) session.close();
    if (!stream.endAfterHeaders) {
      // Node ends the writable side of a HEAD before the request event.
      if (stream.writableEnded) this.stopBodyOfHead(stream);
      else stream.once('finish', () => this.beginStopBody(stream));
    }
    response.on('close', () => {
      release();
      if (state && --state.streams === 0) state.idleSinceMs = this.dependencies.clock.monotonicMs();
    });
  }

  /** Waits until the response to a HEAD is sent, of which no event tells. */
  private stopBodyOfHead(stream: ServerHttp2Stream): void {
    if (stream.destroyed) return;
    if (stream.headersSent) this.beginStopBody(stream);
    else this.dependencies.wheel.after(stopBodyRetryMs, () => this.stopBodyOfHead(stream));
  }

  private beginStopBody(stream: ServerHttp2Stream): void {
    this.stopBody(stream, this.dependencies.clock.monotonicMs() + this.bounds.unreadBodyTimeoutMs);
  }

  /**
   * Resets the stream of a client that still sends an unread body (RFC 9113, 8.1). A reset discards response data that
   * nghttp2 has not sent yet, so this waits until the end of the response is sent, at most until the deadline.
   */
  private stopBody(stream: ServerHttp2Stream, deadlineMs: number): void {
    if (stream.destroyed || stream.readableEnded) return;
    const { localClose, remoteClose } = stream.state;
    if (remoteClose === 1) stream.resume();
    else if (localClose === 1 || this.dependencies.clock.monotonicMs() >= deadlineMs) {
      stream.close(constants.NGHTTP2_NO_ERROR);
    } else this.dependencies.wheel.after(stopBodyRetryMs, () => this.stopBody(stream, deadlineMs));
  }

  /** Limits the time in which an unread body is discarded, which lets the client read the response. */
  private boundUnread(request: AnyRequest, giveUp: () => void): void {
    const timer = this.dependencies.wheel.after(this.bounds.unreadBodyTimeoutMs, () => {
      if (!request.complete) giveUp();
    });
    request.once('close', () => timer.cancel());
  }

  private addTcp(socket: Socket): void {
    this.tcpSockets.add(socket);
    socket.once('close', () => {
      this.tcpSockets.delete(socket);
      if (this.tcpSockets.size === 0) this.whenEmpty?.();
    });
  }

  private addHttp1(socket: Socket): void {
    const pending: ServerResponse[] = [];
    this.http1.set(socket, pending);
    socket.once('close', () => {
      this.http1.delete(socket);
      // Node emits close on the response being written, but not on pipelined ones behind it.
      for (const response of [...pending]) if (!response.closed) setImmediate(closeAbandoned, response);
    });
  }

  private addSession(session: ServerHttp2Session): void {
    const nowMs = this.dependencies.clock.monotonicMs();
    const peer = new SessionPeer(session, this.bounds, nowMs);
    const state: SessionState = { streams: 0, idleSinceMs: nowMs, isOpen: false, peer };
    this.sessions.set(session, state);
    session.once('remoteSettings', () => (state.isOpen = true));
    session.once('close', () => this.sessions.delete(session));
    if (this.isClosing) session.close();
  }

  /** Closes idle HTTP/2 sessions and those of vanished clients. http.Server does the same for HTTP/1.1. */
  private sweep(): void {
    const nowMs = this.dependencies.clock.monotonicMs();
    for (const [session, { streams, idleSinceMs, isOpen, peer }] of this.sessions) {
      if (!peer.isAlive(nowMs)) {
        session.destroy();
        continue;
      }
      if (streams > 0) continue;
      if (nowMs - idleSinceMs < (isOpen ? this.bounds.idleTimeoutMs : this.bounds.headersTimeoutMs)) continue;
      // A session that is still open one sweep after GOAWAY is destroyed.
      if (session.closed) session.destroy();
      else session.close();
    }
  }

  /** Closes the port, so that another server can listen on it. Open connections continue. */
  stopListening(): void {
    if (this.servers.front.listening) this.servers.front.close();
  }

  /** Closes connections that have left HTTP, such as those of `kubectl exec`: they cannot be told to reconnect. */
  closeUpgraded(): void {
    for (const socket of this.servers.upgraded) socket.destroy();
  }

  /**
   * Asks all clients to reconnect: by GOAWAY (HTTP/2) or `Connection: close` (HTTP/1.1). Requests in flight may end
   * within `graceMs`; then all connections are destroyed.
   */
  async drain(graceMs: number): Promise<void> {
    this.isClosing = true;
    this.stopListening();
    this.closeUpgraded();
    for (const session of this.sessions.keys()) session.close();
    for (const [socket, pending] of this.http1) {
      if (pending.length === 0) socket.destroySoon();
      for (const response of pending) if (!response.headersSent) response.shouldKeepAlive = false;
    }
    await this.quiet(graceMs);
    // The event close of the listener may come before this, while its last socket is being closed.
    if (this.tcpSockets.size > 0) await this.within(flushMsMax, (done) => (this.whenEmpty = done));
    this.sweeping.cancel();
    for (const session of this.sessions.keys()) session.destroy();
    for (const socket of this.tcpSockets) socket.destroy();
  }

  /** Resolves when no request is in flight except those of cutAtStop(), or after `graceMs`. */
  async quiet(graceMs: number): Promise<void> {
    if (this.inFlight > 0) await this.within(graceMs, (done) => (this.whenQuiet = done));
  }

  private within(ms: number, start: (done: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.dependencies.clock.after(ms, resolve);
      start(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}

/** Removes a response that has ended. Most are alone, for which an array costs less than a Set. */
function remove(pending: ServerResponse[], response: ServerResponse): void {
  const at = pending.indexOf(response);
  if (at < 0) return;
  if (at === pending.length - 1) pending.pop();
  else pending.splice(at, 1);
}

function closeAbandoned(response: ServerResponse): void {
  if (response.closed) return;
  response.destroy();
  response.emit('close');
}

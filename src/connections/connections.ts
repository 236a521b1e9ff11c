import type { ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { every, type Clock, type Timer } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import type { TimerWheel } from '../std/timer-wheel.js';
import type { ProtocolServers } from './protocol-servers.js';
import { isHttp2Response, type AnyRequest, type AnyResponse } from './raw-messages.js';
import { SessionPeer, type SilenceBounds } from './session-peer.js';

export interface ConnectionBounds extends SilenceBounds {
  readonly idleTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly unreadBodyTimeoutMs: number;
  /** Of all HTTP/2 requests, how many end the life of their session. */
  readonly goawayChance: number;
}

interface SessionState {
  streams: number;
  idleSinceMs: number;
  /** The client has sent its preface. */
  isOpen: boolean;
  readonly peer: SessionPeer;
}

const chanceSteps = 1_000_000;

/** After the last answer: for the last frames to leave. */
const flushMsMax = 500;
/** Between two looks whether the end of an answer has been sent. */
const stopBodyRetryMs = 50;

/** The connections of one server: bounds how long they may do nothing, and lets go of them when the server stops. */
export class Connections {
  /** From the first TCP packet on, so also those that never finish their TLS handshake. */
  private readonly tcpSockets = new Set<Socket>();
  /** HTTP/1.1 connections with the answers that each still owes; several where its client sends ahead. */
  private readonly http1 = new Map<Socket, Set<ServerResponse>>();
  private readonly sessions = new Map<ServerHttp2Session, SessionState>();
  private readonly sweeping: Timer;
  private isClosing = false;
  private underWay = 0;
  private whenQuiet: (() => void) | undefined = undefined;

  constructor(
    private readonly servers: ProtocolServers,
    private readonly bounds: ConnectionBounds,
    private readonly parts: { readonly clock: Clock; readonly rng: Rng; readonly wheel: TimerWheel },
  ) {
    const { front, http1, http2 } = servers;
    front.on('connection', (socket: Socket) => track(this.tcpSockets, socket));
    http1.on('connection', (socket: Socket) => this.addHttp1(socket));
    http2.on('session', (session) => this.addSession(session));
    const shortest = Math.min(bounds.idleTimeoutMs, bounds.headersTimeoutMs, bounds.pingTimeoutMs);
    this.sweeping = every(parts.clock, Math.max(Math.min(shortest / 8, 2_000), 20), () => this.sweep());
  }

  get open(): number {
    return this.tcpSockets.size;
  }

  /** To be called first with every request of either protocol. */
  begin(request: AnyRequest, response: AnyResponse): void {
    this.underWay++;
    if (isHttp2Response(response)) this.beginHttp2(response);
    else this.beginHttp1(request, response);
  }

  private beginHttp1(request: AnyRequest, response: ServerResponse): void {
    const { socket } = request;
    const owed = this.http1.get(socket);
    owed?.add(response);
    if (this.isClosing) response.shouldKeepAlive = false;
    response.once('close', () => {
      owed?.delete(response);
      if (this.isClosing && !owed?.size) socket.destroySoon();
      else if (!request.complete) this.boundUnread(request, () => socket.destroy());
      this.ended();
    });
  }

  private beginHttp2(response: Http2ServerResponse): void {
    const { stream } = response;
    const session = stream.session as ServerHttp2Session;
    const state = this.sessions.get(session);
    if (state) state.streams++;
    const { goawayChance } = this.bounds;
    // Streams that are open go on; the client opens others on a new connection, which a balancer may send elsewhere.
    if (goawayChance > 0 && this.parts.rng.below(chanceSteps) < goawayChance * chanceSteps) session.close();
    if (!stream.endAfterHeaders) {
      stream.once('finish', () =>
        this.stopBody(stream, this.parts.clock.monotonicMs() + this.bounds.unreadBodyTimeoutMs),
      );
    }
    response.once('close', () => {
      if (state && --state.streams === 0) state.idleSinceMs = this.parts.clock.monotonicMs();
      this.ended();
    });
  }

  /**
   * Tells a client that still sends a body which nobody reads to stop (RFC 9113, 8.1). A reset overtakes what nghttp2 has
   * not sent yet, so it waits until the end of the answer is on its way, but not for a client that never takes it.
   */
  private stopBody(stream: ServerHttp2Stream, deadlineMs: number): void {
    if (stream.destroyed || stream.readableEnded) return;
    const { localClose, remoteClose } = stream.state;
    if (remoteClose === 1) stream.resume();
    else if (localClose === 1 || this.parts.clock.monotonicMs() >= deadlineMs) {
      stream.close(constants.NGHTTP2_NO_ERROR);
    } else this.parts.wheel.after(stopBodyRetryMs, () => this.stopBody(stream, deadlineMs));
  }

  /** A body that nobody reads is read over for a while, so that its client sees the answer, but not for ever. */
  private boundUnread(request: AnyRequest, giveUp: () => void): void {
    const timer = this.parts.wheel.after(this.bounds.unreadBodyTimeoutMs, () => {
      if (!request.complete) giveUp();
    });
    request.once('close', () => timer.cancel());
  }

  private ended(): void {
    if (--this.underWay === 0) this.whenQuiet?.();
  }

  private addHttp1(socket: Socket): void {
    const owed = new Set<ServerResponse>();
    this.http1.set(socket, owed);
    socket.once('close', () => {
      this.http1.delete(socket);
      // Node closes the answer that was being written; those behind it would never be told.
      for (const response of [...owed]) if (!response.closed) setImmediate(closeAbandoned, response);
    });
  }

  private addSession(session: ServerHttp2Session): void {
    const nowMs = this.parts.clock.monotonicMs();
    const peer = new SessionPeer(session, this.bounds, nowMs);
    const state: SessionState = { streams: 0, idleSinceMs: nowMs, isOpen: false, peer };
    this.sessions.set(session, state);
    session.once('remoteSettings', () => (state.isOpen = true));
    session.once('close', () => this.sessions.delete(session));
    if (this.isClosing) session.close();
  }

  /** Ends HTTP/2 sessions on which nothing is under way, or whose client has gone. Of HTTP/1.1, http.Server does it. */
  private sweep(): void {
    const nowMs = this.parts.clock.monotonicMs();
    for (const [session, { streams, idleSinceMs, isOpen, peer }] of this.sessions) {
      if (!peer.isThere(nowMs)) {
        session.destroy();
        continue;
      }
      if (streams > 0) continue;
      if (nowMs - idleSinceMs < (isOpen ? this.bounds.idleTimeoutMs : this.bounds.headersTimeoutMs)) continue;
      // A client that does not even take the GOAWAY has had its time by the next round.
      if (session.closed) session.destroy();
      else session.close();
    }
  }

  /** The port is free for another server at once; the connections that are open go on. */
  stopListening(): void {
    if (this.servers.front.listening) this.servers.front.close();
  }

  /**
   * Tells all clients to go elsewhere: GOAWAY by HTTP/2, `Connection: close` by HTTP/1.1. Requests under way may end
   * within the grace time; then all connections are cut.
   */
  async drain(graceMs: number): Promise<void> {
    this.isClosing = true;
    this.stopListening();
    for (const session of this.sessions.keys()) session.close();
    for (const [socket, owed] of this.http1) {
      if (owed.size === 0) socket.destroySoon();
      for (const response of owed) if (!response.headersSent) response.shouldKeepAlive = false;
    }
    await this.quiet(graceMs);
    const isFlushed = (done: () => void) => this.servers.front.once('close', done);
    if (this.tcpSockets.size > 0) await this.within(flushMsMax, isFlushed);
    this.sweeping.cancel();
    for (const session of this.sessions.keys()) session.destroy();
    for (const socket of this.tcpSockets) socket.destroy();
  }

  /** Resolves when no request is under way, or after `graceMs`. */
  async quiet(graceMs: number): Promise<void> {
    if (this.underWay > 0) await this.within(graceMs, (done) => (this.whenQuiet = done));
  }

  private within(ms: number, start: (done: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.parts.clock.after(ms, resolve);
      start(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}

function closeAbandoned(response: ServerResponse): void {
  if (response.closed) return;
  response.destroy();
  response.emit('close');
}

function track(set: Set<Socket>, socket: Socket): void {
  set.add(socket);
  socket.once('close', () => set.delete(socket));
}

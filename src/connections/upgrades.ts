import { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { parseRequestInfo, type RequestInfo } from '../machinery/request-info.js';
import type { AnyRequest } from './raw-messages.js';

/** Decides which requests may leave HTTP: the others are served as if they had no Upgrade header. */
export interface UpgradeRules {
  takes(method: string, url: string): boolean;
}

/** Connections to Pods and nodes, and what components add. */
export class UpgradeRoutes implements UpgradeRules {
  private readonly rules: ((info: RequestInfo) => boolean)[] = [connects];

  add(rule: (info: RequestInfo) => boolean): void {
    this.rules.push(rule);
  }

  takes(method: string, url: string): boolean {
    const info = parseRequestInfo(method, url);
    return this.rules.some((rule) => rule(info));
  }
}

/** A log can be read in the messages of a WebSocket. */
const connectingSubresources = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

const connects = ({ isResourceRequest, subresource }: RequestInfo): boolean =>
  isResourceRequest && connectingSubresources.has(subresource);

/**
 * Returns the class of requests for an HTTP/1.1 server. The server reads `upgrade` once the head is complete: if it is
 * true, the rest of the connection is not parsed, and the event `upgrade` comes instead of `request`. Without this class,
 * a listener for `upgrade` gets every request with an Upgrade header, and its body unparsed.
 */
export function upgradableMessages(rules: UpgradeRules): typeof IncomingMessage {
  return class UpgradableMessage extends IncomingMessage {
    private asksForUpgrade = false;

    get upgrade(): boolean {
      return this.asksForUpgrade && (this.method === 'CONNECT' || rules.takes(this.method ?? '', this.url ?? ''));
    }

    set upgrade(value: boolean | null) {
      this.asksForUpgrade = value === true;
    }
  };
}

/** A connection that a request asks to take over. */
interface PendingUpgrade {
  /** Bytes that the client sent after the head of its request. */
  readonly head: Buffer;
  /**
   * Sends the head of the answer and returns the connection, which belongs to the caller from then on. Undefined if the
   * client has left, or the request was answered.
   */
  switchProtocols(headers: Readonly<Record<string, string | string[]>>): Duplex | undefined;
  /** Returns the connection for a library that sends the head of the answer (101) itself. */
  takeOver(): Duplex | undefined;
}

const pending = new WeakMap<AnyRequest, PendingUpgrade>();

/** Returns the connection of a request with an Upgrade header, if its path may leave HTTP. */
export function upgradeOf(request: AnyRequest): PendingUpgrade | undefined {
  return pending.get(request);
}

/**
 * Creates the response of a request whose connection is not parsed any more, for which Node emits none. An ordinary answer
 * closes the connection. Undefined if an earlier answer is still being sent: the client must not send this request before.
 */
export function responseOn(request: IncomingMessage, socket: Duplex): ServerResponse | undefined {
  socket.on('error', () => socket.destroy());
  const { _httpMessage: earlier } = socket as Duplex & { readonly _httpMessage?: ServerResponse | null };
  if (earlier || socket.destroyed) {
    socket.destroy();
    return undefined;
  }
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as never);
  response.once('finish', () => {
    response.detachSocket(socket as never);
    (socket as Duplex & { destroySoon(): void }).destroySoon();
    response.emit('close');
  });
  return response;
}

/** Prepares a request for the event `upgrade`, so that it can be served like all others. */
export function prepareUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  taken: (socket: Duplex) => void,
): ServerResponse | undefined {
  const response = responseOn(request, socket);
  if (!response) return undefined;
  const isOpen = () => !response.headersSent && !response.destroyed && !socket.destroyed;
  const detach = () => {
    response.detachSocket(socket as never);
    // The request ends with its connection: it is counted and logged then.
    socket.once('close', () => response.emit('close'));
    taken(socket);
    return socket;
  };
  pending.set(request, {
    head,
    switchProtocols: (headers) => {
      if (!isOpen()) return undefined;
      response.writeHead(101, headers);
      response.flushHeaders();
      return detach();
    },
    takeOver: () => {
      if (!isOpen()) return undefined;
      response.statusCode = 101;
      return detach();
    },
  });
  return response;
}

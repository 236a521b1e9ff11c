import type { Transform } from 'node:stream';
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { headersFor, sendBytes } from '../answers/answer.js';
import { cutAtStop } from '../connections/awaited-answers.js';
import { cutAnswer } from '../connections/cut.js';
import { askForBody } from '../connections/expectations.js';
import { requestLine } from '../connections/unusual-requests.js';
import { upgradeOf } from '../connections/upgrades.js';
import { hasBody, type Downstream, type UpgradeDownstream } from '../forwarding/downstream.js';
import { ForwardError } from '../forwarding/forward-error.js';
import type { ForwardPlan, LogPlan, ProxyPlan, StreamPlan } from '../forwarding/forward-plan.js';
import { forwardRequest, RefusedAnswer, requestAnswer, type ForwardedAnswer } from '../forwarding/forward-request.js';
import { authorityOf, type ForwardTarget } from '../forwarding/forward-target.js';
import { forwardUpgrade } from '../forwarding/forward-upgrade.js';
import { requestHeaders } from '../forwarding/forwarded-headers.js';
import { HtmlLinks } from '../forwarding/html-links.js';
import { rewriteLink, type LinkContext } from '../forwarding/link-rewriting.js';
import { escapePath, prefixOf } from '../forwarding/proxied-path.js';
import type { Upstreams } from '../forwarding/upstreams.js';
import { ApiError } from '../machinery/api-error.js';
import { isWebSocketRequest } from '../remote-streams/upgrade-request.js';
import { acceptWebSocket } from '../remote-streams/websocket/accept-websocket.js';
import { chooseMessageProtocol, sendMessages } from '../remote-streams/websocket/send-messages.js';
import type { Clock } from '../std/clock.js';
import { isTranslatedStream, translateStream, webSocketUpgrade } from './translated-streams.js';
import { serverResponseError } from './server-response-error.js';

interface ConnectionRequestDependencies {
  /** Connections of the proxies, which refuse loopback and link-local addresses. */
  readonly proxied: Upstreams;
  /** Connections for logs and streams, to the node that a Pod names. */
  readonly kubelets: Upstreams;
  readonly clock: Clock;
  /** Time without a byte after which an upgraded connection is closed. */
  readonly streamIdleTimeoutMs: number;
  /** True for headers that identify users to this server, and are not forwarded; the name is in lower case. */
  readonly isCredential: (name: string) => boolean;
}

/** Serves requests that another server answers: proxies, logs and streams. */
export class ConnectionRequests {
  constructor(private readonly dependencies: ConnectionRequestDependencies) {}

  async forward(request: FastifyRequest, reply: FastifyReply, plan: ForwardPlan): Promise<void> {
    cutAtStop(reply.raw);
    try {
      if (plan.type === 'log') return await this.log(request, reply, plan);
      if (plan.type === 'stream') return await this.stream(request, reply, plan);
      return await this.proxy(request, reply, plan);
    } catch (error) {
      if (error instanceof ForwardError && error.step === 'gone') return;
      throw error instanceof ForwardError && error.step === 'request'
        ? ApiError.badRequest(error.message, error)
        : error;
    }
  }

  private async log(request: FastifyRequest, reply: FastifyReply, { target, path, podName }: LogPlan): Promise<void> {
    const downstream = this.downstream(request, reply);
    const headers = ['Host', authorityOf(target), 'User-Agent', 'keelson', 'Accept', '*/*'];
    const rewrite = (answer: ForwardedAnswer) => {
      answer.code = 200;
      answer.headers = headersFor(request, 'text/plain') as ForwardedAnswer['headers'];
      return [];
    };
    const refuses = (code: number) => code < 200 || code > 206;
    const forwarded = { target, method: 'GET', path, headers, rewrite, refuses };
    const upgrade = isWebSocketRequest(request.raw) ? this.upgradeDownstream(request, reply) : undefined;
    try {
      if (upgrade) await this.logMessages(request, upgrade, forwarded);
      else await forwardRequest(this.dependencies.kubelets, downstream, forwarded);
    } catch (error) {
      if (error instanceof RefusedAnswer) throw refusalOfLog(error, podName);
      if (!(error instanceof ForwardError) || error.step === 'gone') throw error;
      throw unknownError(`Get "${target.scheme}://${authorityOf(target)}${path}": ${error.message}`, error);
    }
  }

  /** Sends a log in the messages of a WebSocket, for browsers. The kubelet is asked first, so its errors are answers. */
  private async logMessages(
    { raw }: FastifyRequest,
    upgrade: UpgradeDownstream,
    forwarded: Parameters<typeof requestAnswer>[2],
  ): Promise<void> {
    const protocol = chooseMessageProtocol(raw);
    const { upstream, answer } = await requestAnswer(this.dependencies.kubelets, upgrade, forwarded);
    answer.on('error', () => undefined);
    try {
      const webSocket = await acceptWebSocket(webSocketUpgrade(raw, upgrade), protocol);
      if (webSocket) await sendMessages(webSocket, answer, { protocol, sent: (bytes) => upgrade.sent(bytes) });
    } finally {
      upstream.destroy();
    }
  }

  private async stream(request: FastifyRequest, reply: FastifyReply, plan: StreamPlan): Promise<void> {
    const upgrade = this.upgradeDownstream(request, reply);
    if (!upgrade) throw ApiError.badRequest('Upgrade request required');
    const { kubelets, clock, streamIdleTimeoutMs: idleTimeoutMs } = this.dependencies;
    if (!isTranslatedStream(request.raw, plan)) return this.upgrade(kubelets, upgrade, request, plan);
    try {
      await translateStream(request.raw, upgrade, plan, { kubelets, clock, idleTimeoutMs });
    } catch (error) {
      throw upgradeError(error);
    }
  }

  private async proxy(
    request: FastifyRequest,
    reply: FastifyReply,
    { target, path: planned }: ProxyPlan,
  ): Promise<void> {
    const { info } = request.kube;
    const query = info.query.raw === '' ? '' : `?${info.query.raw}`;
    const upgrade = this.upgradeDownstream(request, reply);
    if (upgrade) {
      const path = `${escapePath(planned) || '/'}${query}`;
      return this.upgrade(this.dependencies.proxied, upgrade, request, { target, path });
    }
    const path = info.path.endsWith('/') && !planned.endsWith('/') ? `${planned}/` : planned;
    const method = request.raw.method ?? 'GET';
    if (path === '' && (method === 'GET' || method === 'HEAD')) {
      // Relative links of a page need the slash.
      const { 'content-type': _, ...headers } = headersFor(request, '');
      return sendBytes(request, reply, 301, { ...headers, location: `${escapePath(info.path)}/${query}` }, nothing);
    }
    const prefix = prefixOf(info.path, path);
    const escaped = escapePath(path) || '/';
    const forwardedUri = joined(prefix, escaped);
    const downstream = this.downstream(request, reply);
    const links: LinkContext = { prefix, hosts: [authorityOf(target), hostOf(request)] };
    try {
      await forwardRequest(this.dependencies.proxied, downstream, {
        target,
        method,
        path: `${escaped}${query}`,
        headers: this.headers(request, { 'X-Forwarded-Uri': forwardedUri, ...forwardedAuthority(request) }),
        rewrite: (answer) => rewritten(answer, links, headersFor(request, '')),
      });
    } catch (error) {
      if (!(error instanceof ForwardError) || error.step === 'gone' || error.step === 'request') throw error;
      throw addressError(error) ?? ApiError.unavailable(`error trying to reach service: ${error.message}`, error);
    }
  }

  private async upgrade(
    upstreams: Upstreams,
    downstream: UpgradeDownstream,
    request: FastifyRequest,
    { target, path }: { readonly target: ForwardTarget; readonly path: string },
  ): Promise<void> {
    const { clock, streamIdleTimeoutMs: idleTimeoutMs } = this.dependencies;
    const method = request.raw.method ?? 'GET';
    const headers = this.headers(request, {}, true);
    try {
      await forwardUpgrade(upstreams, downstream, { target, method, path, headers }, { clock, idleTimeoutMs });
    } catch (error) {
      throw upgradeError(error);
    }
  }

  private headers(request: FastifyRequest, more: Readonly<Record<string, string>>, isUpgrade = false): string[] {
    return requestHeaders(request.raw, {
      isDropped: this.dependencies.isCredential,
      clientAddress: request.raw.socket.remoteAddress,
      more,
      isUpgrade,
      hasBody: !isUpgrade && hasBody(request.raw),
      method: request.raw.method ?? 'GET',
    });
  }

  private downstream(request: FastifyRequest, reply: FastifyReply): Downstream {
    const { kube, raw } = request;
    askForBody(raw);
    return {
      request: raw,
      response: reply.raw,
      begin(code) {
        if (!kube.claimAnswer()) return false;
        reply.hijack();
        kube.isStreaming = true;
        const recorded = kube.audit?.started(code);
        return recorded ? recorded.then(() => true) : true;
      },
      cut: () => cutAnswer(reply.raw),
      sent: (bytes) => (kube.sentBytes += bytes),
    };
  }

  private upgradeDownstream(request: FastifyRequest, reply: FastifyReply): UpgradeDownstream | undefined {
    const pending = upgradeOf(request.raw);
    return pending && Object.assign(this.downstream(request, reply), pending);
  }
}

const nothing = Buffer.alloc(0);

/** As in kube-apiserver, only a request line with a whole URL names scheme and host; others keep the client's headers. */
function forwardedAuthority({ raw }: FastifyRequest): Readonly<Record<string, string>> {
  const [, scheme, host] = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(requestLine(raw).url) ?? [];
  return scheme && host ? { 'X-Forwarded-Host': host, 'X-Forwarded-Proto': scheme } : {};
}

const redirects = new Set([301, 302, 303, 307, 308]);

function refusalOfLog(error: RefusedAnswer, podName: string): ApiError {
  if (!error.location || !redirects.has(error.code)) return serverResponseError(error, 'pods/log', podName);
  return unknownError(`Get "${error.location}": redirects forbidden`, error);
}

/** An error without a reason, as Go's errors that are no Status. */
const unknownError = (message: string, cause: unknown): ApiError =>
  new ApiError({ reason: 'Unknown', message, cause, isExternal: true });

/** Returns the error of an upgrade that got no answer. */
function upgradeError(error: unknown): unknown {
  if (!(error instanceof ForwardError) || error.step === 'gone' || error.step === 'request') return error;
  const message = error.step === 'dial' ? `error dialing backend: ${error.message}` : error.message;
  return addressError(error) ?? unknownError(message, error);
}

/** Returns the error of an address that is refused, or of a name that has none. */
function addressError({ step, message }: ForwardError): ApiError | undefined {
  if (step === 'address') return ApiError.badRequest(message);
  const lookup = 'dial tcp: lookup ';
  return message.startsWith(lookup) ? ApiError.badRequest(message.slice('dial tcp: '.length)) : undefined;
}

function hostOf({ raw }: FastifyRequest): string | undefined {
  const authority = raw.headers[':authority'];
  return raw.headers.host ?? (typeof authority === 'string' ? authority : undefined);
}

const joined = (prefix: string, path: string): string => `${prefix.replace(/\/$/, '')}${path}`;

const corsHeaders = ['credentials', 'headers', 'methods', 'origin'].map((name) => `access-control-allow-${name}`);

/** Rewrites the head of a proxied answer, and returns the streams for its body. */
function rewritten(
  answer: ForwardedAnswer,
  links: LinkContext,
  own: ReturnType<typeof headersFor>,
): readonly Transform[] {
  const { headers } = answer;
  for (const name of corsHeaders) delete headers[name];
  const { 'cache-control': cacheControl = [] } = headers;
  const { 'content-type': _, ...added } = own;
  for (const [name, value] of Object.entries(added)) headers[name] = value as string;
  headers['cache-control'] = [String(added['cache-control']), ...[cacheControl].flat()];
  const { location } = headers;
  if (typeof location === 'string' && location !== '') {
    headers['location'] = rewriteLink(location, links);
    return [];
  }
  const type = String(headers['content-type'] ?? '')
    .split(';')[0]!
    .trim();
  const encoding = headers['content-encoding'] ?? '';
  const codec = type === 'text/html' ? codecs.get(String(encoding)) : undefined;
  if (!codec) return [];
  delete headers['content-length'];
  return codec(new HtmlLinks((link) => rewriteLink(link, links)));
}

/** Pages in other encodings are sent unchanged. */
const codecs: ReadonlyMap<string, (links: Transform) => readonly Transform[]> = new Map([
  ['', (links) => [links]],
  ['gzip', (links) => [createGunzip(), links, createGzip()]],
  ['deflate', (links) => [createInflateRaw(), links, createDeflateRaw()]],
]);

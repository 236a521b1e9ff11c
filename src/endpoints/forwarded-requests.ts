import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Aggregation } from '../aggregation/aggregation.js';
import { identityHeaders, isIdentityHeader } from '../aggregation/identity-headers.js';
import type { RemoteVersion } from '../aggregation/remote-version.js';
import { headersFor } from '../answers/answer.js';
import { cutAtStop } from '../connections/awaited-answers.js';
import { cutAnswer } from '../connections/cut.js';
import { upgradeOf } from '../connections/upgrades.js';
import { forwardUpgrade } from '../forwarding/forward-upgrade.js';
import { ForwardError } from '../forwarding/forward-error.js';
import { forwardRequest, type ForwardedAnswer } from '../forwarding/forward-request.js';
import { authorityOf, type ForwardTarget } from '../forwarding/forward-target.js';
import { hasBody, type Downstream } from '../forwarding/downstream.js';
import { requestHeaders } from '../forwarding/forwarded-headers.js';
import { escapePath } from '../forwarding/proxied-path.js';
import { ApiError } from '../machinery/api-error.js';
import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import { WebhookCallError } from '../webhook-client/webhook-call-error.js';

interface Dependencies {
  readonly aggregation: Aggregation;
  /** Limit on the requests to one APIService at the same time. */
  readonly requestsMax: number;
  readonly rejectsRedirects: boolean;
  readonly clock: Clock;
  readonly rng: Rng;
}

/** Time without a byte in either direction after which a tunnel is closed; as the idle timeout of streams to kubelets. */
const tunnelIdleMsMax = 4 * 3600_000;

/**
 * Forwards requests to aggregated API servers, after they were authenticated and authorized here. The other server gets
 * the user in headers, by the client certificate of this server, and authorizes the request again.
 */
export class ForwardedRequests {
  /** Requests in flight, by APIService. */
  private readonly inFlight = new Map<string, number>();
  /** The name of this process in Via (RFC 9110, 7.6.3), by which it recognizes its own requests. */
  private readonly ownName: string;

  constructor(private readonly dependencies: Dependencies) {
    this.ownName = `keelson-${dependencies.rng.uuid()}`;
  }

  find(group: string, version: string): RemoteVersion | undefined {
    return this.dependencies.aggregation.versions.find(group, version);
  }

  async forward(request: FastifyRequest, reply: FastifyReply, version: RemoteVersion): Promise<void> {
    if (request.kube.info.error) throw request.kube.info.error;
    // The body is not decoded here, so the name of the object stays unknown.
    await request.kube.nameKnown?.('');
    if (!version.isAvailable) {
      // Checks it sooner, since a client is waiting for it.
      this.dependencies.aggregation.versions.failed(version);
      throw unavailable('service unavailable');
    }
    if (request.raw.headers.via?.includes(this.ownName)) {
      throw unavailable(`the API server of ${version.name} forwards requests to this server, which has forwarded them`);
    }
    const target = this.targetOf(version);
    const running = this.inFlight.get(version.name) ?? 0;
    if (running >= this.dependencies.requestsMax) {
      throw ApiError.tooManyRequests(`too many requests to the API server of ${version.name}`, 1);
    }
    this.inFlight.set(version.name, running + 1);
    try {
      await this.send(request, reply, version, target);
    } finally {
      const left = this.inFlight.get(version.name)! - 1;
      if (left > 0) this.inFlight.set(version.name, left);
      else this.inFlight.delete(version.name);
    }
  }

  private targetOf(version: RemoteVersion): ForwardTarget {
    try {
      return this.dependencies.aggregation.targets.of(version);
    } catch (error) {
      if (error instanceof WebhookCallError) throw unavailable('service unavailable', error);
      const message = error instanceof Error ? error.message : String(error);
      throw new ApiError({ reason: 'InternalError', message, plainText: true, isExternal: true, cause: error });
    }
  }

  private async send(
    request: FastifyRequest,
    reply: FastifyReply,
    version: RemoteVersion,
    target: ForwardTarget,
  ): Promise<void> {
    const { kube, raw } = request;
    const { headerNames, upstreams, targets, versions } = this.dependencies.aggregation;
    // A watch does its work elsewhere.
    if (kube.info.verb === 'watch') {
      cutAtStop(reply.raw);
      kube.isStreaming = true;
      kube.flow?.finish();
    }
    kube.begin('handling');
    const upgrade = upgradeOf(raw);
    const method = raw.method ?? 'GET';
    const path = raw.url ?? '/';
    const span = upgrade
      ? undefined
      : kube.trace?.beginCall(`HTTP ${method}`, { 'http.request.method': method, apiService: version.name });
    // As in kube-apiserver, a request that switches protocols has those of the client.
    const more = upgrade ? {} : { ...forwardedHeaders(request, target), ...span?.headers };
    const withBody = hasBody(raw);
    const headers = requestHeaders(raw, {
      isDropped: (name) =>
        name === 'audit-id' ||
        isIdentityHeader(name, headerNames) ||
        // Belongs to the context that is replaced.
        (name === 'tracestate' && span?.headers['traceparent'] !== undefined),
      clientAddress: raw.socket.remoteAddress,
      host: authorityOf(target),
      more,
      hasBody: withBody,
      isUpgrade: upgrade !== undefined,
      method,
    });
    headers.push(
      'Via',
      `1.1 ${this.ownName}`,
      'Audit-Id',
      kube.auditId,
      ...identityHeaders(kube.user, headerNames).flat(),
    );
    const forwarded = { target, method, path, headers };
    const downstream = downstreamOf(request, reply);
    let failure: string | undefined;
    try {
      if (upgrade) {
        const { head } = upgrade;
        const switchProtocols: typeof upgrade.switchProtocols = (headers) => upgrade.switchProtocols(headers);
        const bounds = { clock: this.dependencies.clock, idleTimeoutMs: tunnelIdleMsMax };
        await forwardUpgrade(upstreams, { ...downstream, head, switchProtocols }, forwarded, bounds);
      } else {
        const rewrite = (answer: ForwardedAnswer) => this.rewrite(request, answer);
        await forwardRequest(upstreams, downstream, { ...forwarded, rewrite });
      }
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
      if (!(error instanceof ForwardError)) throw error;
      if (error.step === 'gone' || kube.isExpired) return;
      if (error.step !== 'request') {
        targets.failed(version);
        versions.failed(version);
      }
      throw unavailable(`error trying to reach service: ${error.message}`, error);
    } finally {
      span?.end(failure);
    }
  }

  private rewrite(request: FastifyRequest, answer: ForwardedAnswer): [] {
    const { code, headers } = answer;
    if (this.dependencies.rejectsRedirects && code >= 300 && code <= 399 && headers['location'] !== undefined) {
      const message = 'the backend attempted to redirect this request, which is not permitted';
      throw new ApiError({ reason: 'InternalError', code: 502, message, plainText: true, isExternal: true });
    }
    // Origins that may read answers are configured here.
    for (const name of corsHeaders) delete headers[name];
    // The headers of every answer of this server; those of the other one that describe its body and caching stay.
    const own = headersFor(request, '');
    delete own['content-type'];
    for (const [name, value] of Object.entries(own)) {
      if (name === 'cache-control' && headers[name] !== undefined) continue;
      headers[name] = typeof value === 'number' ? String(value) : value;
    }
    return [];
  }
}

/** Returns headers about how the other server was reached; kube-apiserver sends the address and scheme of its own connection too. */
function forwardedHeaders({ kube }: FastifyRequest, target: ForwardTarget): Readonly<Record<string, string>> {
  return {
    'X-Forwarded-Uri': escapePath(kube.info.path),
    'X-Forwarded-Host': authorityOf(target),
    'X-Forwarded-Proto': target.scheme,
  };
}

const corsHeaders = ['credentials', 'headers', 'methods', 'origin'].map((name) => `access-control-allow-${name}`);

const switchingProtocols = 101;

function unavailable(message: string, cause?: unknown): ApiError {
  return new ApiError({ reason: 'ServiceUnavailable', message, plainText: true, isExternal: true, cause });
}

function downstreamOf(request: FastifyRequest, reply: FastifyReply): Downstream {
  const { kube } = request;
  return {
    request: request.raw,
    response: reply.raw,
    begin(code) {
      if (!kube.claimAnswer()) return false;
      kube.begin('write');
      if (code === switchingProtocols) {
        kube.isStreaming = true;
        kube.flow?.finish();
      }
      reply.hijack();
      const recorded = kube.isStreaming ? kube.audit?.started(code) : kube.audit?.answered(code);
      return recorded ? recorded.then(() => true) : true;
    },
    cut: () => cutAnswer(reply.raw),
    sent: (bytes) => void (kube.sentBytes += bytes),
  };
}

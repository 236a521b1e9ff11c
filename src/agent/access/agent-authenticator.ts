import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { isAuthenticated } from '../../auth/authenticator.js';
import { noTokenCacheObserver } from '../../auth/token-cache-observer.js';
import { TokenWebhook } from '../../auth/webhook/token-webhook.js';
import type { CaBundle } from '../../certificates/ca-bundle.js';
import { ClientCertificates } from '../../certificates/client-certificates.js';
import type { Limits } from '../../config/limits.js';
import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';
import { allAuthenticated, allUnauthenticated, userNames, type UserInfo } from '../../machinery/user-info.js';
import type { Cancellation } from '../../std/cancellation.js';
import type { AgentDependencies } from '../agent-dependencies.js';
import { reviewClient } from './review-client.js';

interface Dependencies extends AgentDependencies {
  readonly limits: Limits;
  readonly client: KubeconfigClient | undefined;
  readonly clientCa: () => CaBundle | undefined;
}

const anonymous: UserInfo = { name: userNames.anonymous, uid: '', groups: [allUnauthenticated], extra: {} };

/** Identifies the user of a request by the client certificate, else by a bearer token; others may be anonymous. */
export class AgentAuthenticator {
  private readonly certificates: ClientCertificates;
  private readonly tokens: TokenWebhook | undefined;

  constructor(private readonly dependencies: Dependencies) {
    const { options, clientCa, client } = dependencies;
    this.certificates = new ClientCertificates(clientCa, options.naming.labelDomain);
    if (options.authentication.webhook && client) this.tokens = tokenWebhook(dependencies, client);
  }

  /** Returns undefined for a request that is rejected (401). */
  async authenticate(
    request: IncomingMessage | Http2ServerRequest,
    caller: { readonly signal: Cancellation | undefined },
  ): Promise<UserInfo | undefined> {
    const { clock, options } = this.dependencies;
    const verdict = this.certificates.verdictOf(tlsSocketOf(request), clock);
    if (verdict && 'identity' in verdict) {
      const { name, uid = '', groups, extra } = verdict.identity;
      return { name, uid, groups: [...groups, allAuthenticated], extra };
    }
    let isRejected = verdict !== undefined;
    const token = /^bearer +([^ ]+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token !== undefined && this.tokens) {
      const result = await this.tokens.authenticate(token, undefined, caller);
      if (isAuthenticated(result)) return result.user;
      isRejected = true;
    }
    return !isRejected && options.authentication.anonymous ? anonymous : undefined;
  }
}

/** Returns the TLS connection of the request; that of an HTTP/2 session is a proxy of its socket. */
function tlsSocketOf(request: IncomingMessage | Http2ServerRequest): TLSSocket {
  return ('stream' in request ? (request.stream.session?.socket ?? request.socket) : request.socket) as TLSSocket;
}

function tokenWebhook({ options, limits, clock, rng, logger }: Dependencies, client: KubeconfigClient): TokenWebhook {
  const apiVersion = `${options.naming.group('authentication')}/v1`;
  return new TokenWebhook({
    ...{ clock, rng, logger, apiVersion },
    client: reviewClient(client, `/apis/${apiVersion}/tokenreviews`),
    observer: noTokenCacheObserver,
    webhookObserver: { refusedCertificate: () => undefined },
    cacheTtlMs: options.authentication.webhookCacheTtlMs,
    ownAudiences: [],
    answerBytesMax: limits.tokenReviewAnswerBytesMax,
    limits: {
      entriesMax: limits.tokenReviewsCachedMax,
      bytesMax: limits.tokenReviewsCachedBytesMax,
      pendingMax: limits.tokenReviewsPendingMax,
      pendingBytesMax: limits.tokenReviewsPendingBytesMax,
    },
  });
}

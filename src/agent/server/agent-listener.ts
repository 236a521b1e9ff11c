import { isHttp2Response, type AnyRequest, type AnyResponse } from '../../connections/raw-messages.js';
import { refusalOf, requestLine } from '../../connections/unusual-requests.js';
import { pathOfAbsoluteUrl } from '../../machinery/request-info.js';
import { Canceller } from '../../std/cancellation.js';
import type { Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import type { AgentAuthenticator } from '../access/agent-authenticator.js';
import type { AgentAuthorizer } from '../access/agent-authorizer.js';
import { AgentError } from './agent-request.js';
import { sendText } from './agent-response.js';
import { matchRoute, type Route } from './routes.js';

interface Dependencies {
  readonly authenticator: AgentAuthenticator;
  readonly authorizer: AgentAuthorizer;
  readonly routes: readonly Route[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called once for each request, when it has been answered. */
  readonly answered: (method: string, root: string, seconds: number) => void;
}

/** Bytes of a path; the longest that has a meaning names a Pod, a container and a file. */
const pathBytesMax = 8_192;

/** Answers requests: authenticates, authorizes and routes them, in this order, as the kubelet does. */
export class AgentListener {
  constructor(private readonly dependencies: Dependencies) {}

  /** Never rejects. */
  async serve(raw: AnyRequest, response: AnyResponse): Promise<void> {
    const { clock, logger, answered } = this.dependencies;
    const beginMs = clock.monotonicMs();
    const { method, url } = requestLine(raw);
    // A pipeline adds eight to those of the server.
    response.setMaxListeners(20);
    const left = new Canceller();
    response.once('close', () => {
      answered(method, rootOf(url), (clock.monotonicMs() - beginMs) / 1000);
      left.cancel(new AgentError(499, 'the client has left'));
    });
    // Without a listener, an error of a client that leaves would end the process.
    response.on('error', () => undefined);
    raw.on('error', () => undefined);
    try {
      await this.answer(raw, response, left);
    } catch (error) {
      if (error instanceof AgentError) return fail(response, error.status, error.message);
      logger.error('a request failed; this is a bug', { error, method, path: rootOf(url) });
      fail(response, 500, 'Internal Server Error');
    }
  }

  private async answer(raw: AnyRequest, response: AnyResponse, left: Canceller): Promise<void> {
    const { authenticator, authorizer, routes } = this.dependencies;
    const refusal = refusalOf(raw);
    if (refusal) throw new AgentError(refusal.code, refusal.message);
    const { method, url } = requestLine(raw);
    const { path, query } = parsedUrl(url);
    const user = await authenticator.authenticate(raw, { signal: left });
    if (!user) throw new AgentError(401, 'Unauthorized');
    const forbidden = await authorizer.refusal(user, method, path);
    if (forbidden) throw new AgentError(forbidden.status, forbidden.text);

    const match = matchRoute(routes, method, path);
    if (!match.route) {
      if (match.isKnown) throw new AgentError(405, '405: Method Not Allowed');
      throw new AgentError(404, '404 page not found\n');
    }
    const { parameters } = match;
    await match.route.handle({ raw, response, method, path, parameters, query, user, signal: left });
  }
}

function parsedUrl(url: string): { path: string; query: URLSearchParams } {
  const at = url.indexOf('?');
  const escaped = at < 0 ? url : url.slice(0, at);
  if (escaped.length > pathBytesMax) throw new AgentError(414, 'the path is too long');
  const path = escaped.startsWith('/') ? escaped : pathOfAbsoluteUrl(escaped);
  if (!path.startsWith('/')) throw new AgentError(400, 'the path is invalid');
  try {
    return { path: decodeURIComponent(path), query: new URLSearchParams(at < 0 ? '' : url.slice(at + 1)) };
  } catch {
    throw new AgentError(400, 'the path is invalid');
  }
}

/** Returns the first step of a path, for metrics and the log; names of Pods are in later ones. */
function rootOf(url: string): string {
  return /^\/([A-Za-z]*)/.exec(url)?.[1] ?? '';
}

/** Answers with an error, or cuts an answer that has begun, so that the client sees that it is incomplete. */
function fail(response: AnyResponse, status: number, text: string): void {
  if (!response.headersSent) sendText(response, status, text);
  else if (isHttp2Response(response)) response.stream.destroy();
  else response.destroy();
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { listenForReviews, ReviewServer, type WebhookCertificate } from './review-server.js';

interface TokenReview {
  readonly kind: string;
  readonly apiVersion: string;
  readonly spec: { readonly token: string; readonly audiences?: readonly string[] };
}

type Answer = (token: string, response: ServerResponse, request: IncomingMessage) => void;

/** An HTTPS server that answers TokenReviews as a test says, and records them. */
export class WebhookServer extends ReviewServer<TokenReview> {
  /** Rejects all tokens by default. */
  answer: Answer = (_token, response) => respond(response, { authenticated: false });

  static async start(given?: WebhookCertificate): Promise<WebhookServer> {
    const { server, ca } = await listenForReviews(given);
    return new WebhookServer(server, ca, '/authenticate');
  }

  /** Number of TokenReviews with this token. */
  asked(token: string): number {
    return this.reviews.filter(({ spec }) => spec.token === token).length;
  }

  protected override reply({ spec }: TokenReview, response: ServerResponse, request: IncomingMessage): void {
    this.answer(spec.token, response, request);
  }
}

/** Answers with a TokenReview of the version that kube-apiserver asks for by default. */
export function respond(response: ServerResponse, status: unknown, more: Record<string, unknown> = {}): void {
  const review = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1beta1', ...more, status };
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(review));
}

/** Accepts every token as a user of its name. */
export const acceptAll: Answer = (token, response) =>
  respond(response, { authenticated: true, user: { username: token } });

import type { IncomingMessage, ServerResponse } from 'node:http';
import { listenForReviews, ReviewServer, type WebhookCertificate } from './review-server.js';

export interface SubjectAccessReview {
  readonly kind: string;
  readonly apiVersion: string;
  readonly spec: {
    readonly user?: string;
    readonly groups?: readonly string[];
    readonly group?: readonly string[];
    readonly uid?: string;
    readonly extra?: Readonly<Record<string, readonly string[]>>;
    readonly resourceAttributes?: Readonly<Record<string, unknown>>;
    readonly nonResourceAttributes?: Readonly<Record<string, unknown>>;
  };
}

type Answer = (review: SubjectAccessReview, response: ServerResponse, request: IncomingMessage) => void;

/** An HTTPS server that answers SubjectAccessReviews as a test says, and records them. */
export class AuthorizationWebhookServer extends ReviewServer<SubjectAccessReview> {
  /** Has no opinion by default. */
  answer: Answer = answers({ allowed: false });

  static async start(given?: WebhookCertificate, path = '/authorize'): Promise<AuthorizationWebhookServer> {
    const { server, ca } = await listenForReviews(given);
    return new AuthorizationWebhookServer(server, ca, path);
  }

  protected override reply(review: SubjectAccessReview, response: ServerResponse, request: IncomingMessage): void {
    this.answer(review, response, request);
  }
}

/** Answers every review with this status. */
export const answers =
  (status: unknown, more: Record<string, unknown> = {}): Answer =>
  ({ kind, apiVersion, spec }, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ kind, apiVersion, spec, status, ...more }));
  };

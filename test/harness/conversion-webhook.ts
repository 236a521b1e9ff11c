import type { ServerResponse } from 'node:http';
import { listenForReviews, ReviewServer } from './review-server.js';

interface Converted {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Record<string, unknown>;
  readonly [field: string]: unknown;
}

export interface ConversionReview {
  readonly kind: string;
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly Converted[];
  };
}

/** An HTTPS server that converts objects as a test says, and records the reviews. */
export class ConversionWebhook extends ReviewServer<ConversionReview> {
  /** Converts one object, whose apiVersion is then set. */
  convert: (object: Converted, version: string) => Record<string, unknown> = (object) => object;
  /** Replaces the whole answer if it is set. */
  answer: ((review: ConversionReview, response: ServerResponse) => void) | undefined;

  static async start(): Promise<ConversionWebhook> {
    const { server, ca } = await listenForReviews();
    return new ConversionWebhook(server, ca, '/convert');
  }

  /** `spec.conversion` of a CustomResourceDefinition. */
  get conversion() {
    const caBundle = Buffer.from(this.ca).toString('base64');
    const clientConfig = { url: this.url, caBundle };
    return { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } };
  }

  converted({ request: { desiredAPIVersion, objects } }: ConversionReview): Record<string, unknown>[] {
    const version = desiredAPIVersion.split('/')[1]!;
    return objects.map((object) => ({ ...this.convert(object, version), apiVersion: desiredAPIVersion }));
  }

  protected reply(review: ConversionReview, response: ServerResponse): void {
    if (this.answer) this.answer(review, response);
    else respond(response, review, this.converted(review));
  }
}

export function respond(
  response: ServerResponse,
  { apiVersion, request: { uid } }: ConversionReview,
  convertedObjects: readonly unknown[],
  result: object = { status: 'Success' },
): void {
  const review = { kind: 'ConversionReview', apiVersion, response: { uid, convertedObjects, result } };
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(review));
}

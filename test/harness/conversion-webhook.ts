import type { ServerResponse } from 'node:http';
import { HttpsJsonServer } from './https-json-server.js';

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
export class ConversionWebhook {
  /** Converts one object, whose apiVersion is then set. */
  convert: (object: Converted, version: string) => Record<string, unknown> = (object) => object;
  /** Replaces the whole answer if it is set. */
  answer: ((review: ConversionReview, response: ServerResponse) => void) | undefined;

  private constructor(private readonly server: HttpsJsonServer<ConversionReview>) {}

  static async start(): Promise<ConversionWebhook> {
    const server = await HttpsJsonServer.start<ConversionReview>();
    const webhook = new ConversionWebhook(server);
    server.answer = (review, response) =>
      webhook.answer ? webhook.answer(review, response) : respond(response, review, webhook.converted(review));
    return webhook;
  }

  get reviews(): readonly ConversionReview[] {
    return this.server.bodies;
  }

  /** `spec.conversion` of a CustomResourceDefinition. */
  get conversion() {
    const caBundle = Buffer.from(this.server.ca).toString('base64');
    return {
      strategy: 'Webhook',
      webhook: { clientConfig: { url: this.server.url('/convert'), caBundle }, conversionReviewVersions: ['v1'] },
    };
  }

  converted({ request: { desiredAPIVersion, objects } }: ConversionReview): Record<string, unknown>[] {
    const version = desiredAPIVersion.split('/')[1]!;
    return objects.map((object) => ({ ...this.convert(object, version), apiVersion: desiredAPIVersion }));
  }

  stop(): Promise<void> {
    return this.server.stop();
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

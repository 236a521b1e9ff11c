import type { CustomResourceConversion } from '../../catalog/types/apiextensions.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { ApiError } from '../../machinery/api-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Clock } from '../../std/clock.js';
import { NotReady } from '../../std/not-ready.js';
import type { Rng } from '../../std/rng.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { ConversionFailure, type FailureType } from './conversion-failure.js';
import { decodeReview, encodeReview } from './conversion-review.js';
import type { ConvertedObjects } from './converted-objects.js';

export type WebhookConversion = NonNullable<CustomResourceConversion['webhook']>;

type WebhookAddress = NonNullable<WebhookConversion['clientConfig']>;

/** Sends bodies to one webhook. */
interface ConversionClient {
  /** Resolves with the body of the answer. Rejects with an error whose message says what failed. */
  post(body: Buffer, options: { readonly timeoutSeconds: number; readonly signal: undefined }): Promise<Buffer>;
  /** Closes idle connections. */
  close(): void;
}

/** Counts conversions, for metrics. */
export interface ConversionObserver {
  /** `failure` is undefined if the conversion succeeded. */
  converted(definition: string, from: string, to: string, seconds: number, failure: FailureType | undefined): void;
}

export interface ConverterDependencies {
  readonly openClient: (address: WebhookAddress) => ConversionClient;
  readonly results: ConvertedObjects;
  readonly observer: ConversionObserver;
  /** `apiextensions.k8s.io` */
  readonly group: string;
  readonly clock: Clock;
  readonly rng: Rng;
}

/** As kube-apiserver. */
const timeoutSeconds = 30;

/** Versions of ConversionReview that this server sends. */
const reviewVersions = ['v1', 'v1beta1'];

/** Converts the objects of one custom kind by its conversion webhook. */
export class WebhookConverter {
  /** Running conversions by the key of their result. */
  private readonly running = new Map<string, Promise<void>>();
  /** Identifies the results of the present configuration. */
  private identity: string;
  private client: ConversionClient | undefined;

  constructor(
    private readonly definition: string,
    private webhook: WebhookConversion,
    private readonly dependencies: ConverterDependencies,
  ) {
    this.identity = dependencies.rng.uuid();
  }

  /** Takes a changed `spec.conversion.webhook`. Objects that are not converted yet are converted by it. */
  configure(webhook: WebhookConversion): void {
    if (deepEqual(webhook, this.webhook)) return;
    this.close();
    this.webhook = webhook;
    this.identity = this.dependencies.rng.uuid();
  }

  /** Closes idle connections. Running requests end as usual. */
  close(): void {
    this.client?.close();
    this.client = undefined;
  }

  private keyOf(object: KubeObject, apiVersion: string): string {
    return this.dependencies.results.keyOf(object, apiVersion, this.identity);
  }

  /** Returns the object in another version. Throws NotReady if the webhook has to be asked. */
  convert(object: KubeObject, apiVersion: string): KubeObject {
    if (object.apiVersion === apiVersion) return object;
    const { results } = this.dependencies;
    const key = this.keyOf(object, apiVersion);
    const known = results.get(key, object);
    if (known) return known;
    throw new NotReady(this.running.get(key) ?? this.begin([[key, object]], apiVersion));
  }

  /** Asks the webhook for all objects whose result is not known, in one request. */
  async ahead(objects: readonly KubeObject[], apiVersion: string): Promise<void> {
    const missing = new Map<string, KubeObject>();
    const waited: Promise<void>[] = [];
    for (const object of objects) {
      if (object.apiVersion === apiVersion) continue;
      const key = this.keyOf(object, apiVersion);
      const running = this.running.get(key);
      if (running) waited.push(running);
      else if (!this.dependencies.results.has(key)) missing.set(key, object);
    }
    if (missing.size > 0) waited.push(this.begin([...missing], apiVersion));
    await Promise.all(waited);
  }

  private begin(objects: readonly (readonly [key: string, object: KubeObject])[], apiVersion: string): Promise<void> {
    const running = this.request(objects, apiVersion).finally(() => {
      for (const [key] of objects) this.running.delete(key);
    });
    running.catch(() => undefined);
    for (const [key] of objects) this.running.set(key, running);
    return running;
  }

  private async request(
    objects: readonly (readonly [key: string, object: KubeObject])[],
    apiVersion: string,
  ): Promise<void> {
    const { clock, results, observer } = this.dependencies;
    const beginMs = clock.monotonicMs();
    const from = objects[0]![1].apiVersion;
    let failure: FailureType | undefined = 'conversion_webhook_call_failure';
    try {
      const converted = await this.ask(
        objects.map(([, object]) => object),
        apiVersion,
      );
      const timer = new YieldTimer(clock);
      for (const [index, [key]] of objects.entries()) {
        results.set(key, converted[index]!);
        if (timer.isDue()) await timer.yield();
      }
      failure = undefined;
    } catch (error) {
      if (error instanceof ConversionFailure) failure = error.type;
      throw this.failed(objects[0]![1], error);
    } finally {
      const seconds = (clock.monotonicMs() - beginMs) / 1000;
      observer.converted(this.definition, versionIn(from), versionIn(apiVersion), seconds, failure);
    }
  }

  private async ask(objects: readonly KubeObject[], desiredApiVersion: string): Promise<KubeObject[]> {
    const { openClient, clock, rng, group } = this.dependencies;
    const { clientConfig, conversionReviewVersions } = this.webhook;
    const version = (conversionReviewVersions ?? []).find((each) => reviewVersions.includes(each));
    const failed = (problem: string) => new ConversionFailure('conversion_webhook_call_failure', problem);
    if (version === undefined) throw failed('failed: no supported conversion review versions');
    if (!clientConfig) throw failed('failed: the definition has no spec.conversion.webhook.clientConfig');
    const request = { uid: rng.uuid(), reviewVersion: `${group}/${version}`, desiredApiVersion, objects };
    let answer: Buffer;
    try {
      this.client ??= openClient(clientConfig);
      answer = await this.client.post(encodeReview(request), { timeoutSeconds, signal: undefined });
    } catch (error) {
      throw failed(`failed: ${error instanceof Error ? error.message : String(error)}`);
    }
    return new YieldTimer(clock).run(decodeReview(answer, request));
  }

  private failed({ apiVersion, kind }: KubeObject, error: unknown): unknown {
    if (!(error instanceof ConversionFailure)) return error;
    const message = `conversion webhook for ${apiVersion}, Kind=${kind} ${error.message}`;
    return new ApiError({ reason: 'Unknown', message, cause: error });
  }
}

const versionIn = (apiVersion: string) => apiVersion.slice(apiVersion.indexOf('/') + 1);

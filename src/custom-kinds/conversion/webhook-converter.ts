import type { CustomResourceConversion } from '../../catalog/types/apiextensions.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { ApiError } from '../../machinery/api-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { InjectCall, InjectedCall } from '../../kubeconfig-client/injected-call.js';
import { tracedCall, type CallTrace } from '../../std/call-trace.js';
import type { Clock } from '../../std/clock.js';
import { NotReady } from '../../std/not-ready.js';
import type { Rng } from '../../std/rng.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { ConversionFailure, type FailureType } from './conversion-failure.js';
import { decodeReview, encodeReview, failedReview } from './conversion-review.js';
import type { ConvertedObjects } from './converted-objects.js';

export type WebhookConversion = NonNullable<CustomResourceConversion['webhook']>;

type WebhookAddress = NonNullable<WebhookConversion['clientConfig']>;

interface CallOptions {
  readonly timeoutSeconds: number;
  readonly signal: undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly injected: InjectedCall | undefined;
}

/** A conversion of objects, each with the key of its result. */
interface Conversion {
  readonly objects: readonly (readonly [key: string, object: KubeObject])[];
  readonly apiVersion: string;
  /** The trace of the first request that waits for the conversion. */
  trace: CallTrace | undefined;
}

/** Sends bodies to one webhook. */
interface ConversionClient {
  /** Resolves with the body of the answer. Rejects with an error whose message says what failed. */
  post(body: Buffer, options: CallOptions): Promise<Buffer>;
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
  /** Absent without --allow-faults. */
  readonly injectCall: InjectCall | undefined;
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
    const running = this.running.get(key);
    if (running) throw new NotReady(running);
    const conversion: Conversion = { objects: [[key, object]], apiVersion, trace: undefined };
    throw new NotReady(this.begin(conversion), (trace) => (conversion.trace = trace));
  }

  /** Asks the webhook for all objects whose result is not known, in one request. */
  async ahead(objects: readonly KubeObject[], apiVersion: string, trace: CallTrace | undefined): Promise<void> {
    const missing = new Map<string, KubeObject>();
    const waited: Promise<void>[] = [];
    for (const object of objects) {
      if (object.apiVersion === apiVersion) continue;
      const key = this.keyOf(object, apiVersion);
      const running = this.running.get(key);
      if (running) waited.push(running);
      else if (!this.dependencies.results.has(key)) missing.set(key, object);
    }
    if (missing.size > 0) waited.push(this.begin({ objects: [...missing], apiVersion, trace }));
    await Promise.all(waited);
  }

  private begin(conversion: Conversion): Promise<void> {
    const running = this.request(conversion).finally(() => {
      for (const [key] of conversion.objects) this.running.delete(key);
    });
    running.catch(() => undefined);
    for (const [key] of conversion.objects) this.running.set(key, running);
    return running;
  }

  private async request(conversion: Conversion): Promise<void> {
    const { objects, apiVersion } = conversion;
    const { clock, results, observer } = this.dependencies;
    const beginMs = clock.monotonicMs();
    const from = objects[0]![1].apiVersion;
    let failure: FailureType | undefined = 'conversion_webhook_call_failure';
    try {
      // convert() throws before the call is sent, so that the request that waits can join.
      await Promise.resolve();
      const converted = await this.ask(conversion);
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

  private async ask({ objects: keyed, apiVersion: desiredApiVersion, trace }: Conversion): Promise<KubeObject[]> {
    const objects = keyed.map(([, object]) => object);
    const { openClient, injectCall, clock, rng, group } = this.dependencies;
    const { clientConfig, conversionReviewVersions } = this.webhook;
    const version = (conversionReviewVersions ?? []).find((each) => reviewVersions.includes(each));
    const failed = (problem: string) => new ConversionFailure('conversion_webhook_call_failure', problem);
    if (version === undefined) throw failed('failed: no supported conversion review versions');
    if (!clientConfig) throw failed('failed: the definition has no spec.conversion.webhook.clientConfig');
    const request = { uid: rng.uuid(), reviewVersion: `${group}/${version}`, desiredApiVersion, objects };
    const attributes = {
      'custom-resource-definition': this.definition,
      'desired-api-version': desiredApiVersion,
      'object-count': objects.length,
      UID: request.uid,
    };
    let answer: Buffer;
    try {
      const client = (this.client ??= openClient(clientConfig));
      answer = await tracedCall(trace, 'Call conversion webhook', attributes, async (span) => {
        const subject = { kind: 'conversion', configuration: this.definition, name: '', user: undefined } as const;
        const injected = injectCall?.(subject, ({ message }) => failedReview(request, message));
        const options = { timeoutSeconds, signal: undefined, headers: span?.headers, injected };
        const body = await client.post(encodeReview(request), options);
        span?.event('Request completed');
        return body;
      });
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

import { GrpcError, grpcCodeName, grpcStatus, NotConnectedError } from '../../grpc/grpc-error.js';
import { Http2Channel } from '../../grpc/http2-channel.js';
import type { Message } from './message.js';
import type { Cancellation } from '../../std/cancellation.js';
import { sleep, type Clock } from '../../std/clock.js';
import { isImageMethod, methods, pathOf, type Method, type RequestOf, type ResponseOf } from './messages.js';

/** A failed call of the container runtime. The message has the text of the runtime, as that of the kubelet. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  constructor(
    message: string,
    /** Code of gRPC; unavailable if there was no answer. */
    readonly code: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  get isUnimplemented(): boolean {
    return this.code === grpcStatus.unimplemented;
  }
}

/** Counts calls, for metrics. */
interface RuntimeObserver {
  called(method: Method, codeName: string, seconds: number): void;
}

interface Options {
  /** `unix:<path>` */
  readonly endpoint: string;
  readonly imageEndpoint: string;
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
  readonly observer: RuntimeObserver;
}

interface CallOptions {
  /** Default: --runtime-request-timeout. */
  readonly timeoutMs?: number;
  readonly signal?: Cancellation | undefined;
}

/** As the kubelet: lists of hundreds of containers with their annotations. */
const answerBytesMax = 16 * 1024 * 1024;
/** A runtime that is down fails a request soon, instead of after its timeout; one that starts is waited for. */
const redialMsMax = 3_000;
const connectMsMax = 10_000;
/** Delay until a connection that was refused is tried again. */
const redialMs = 100;
/** Text of the runtime in messages. */
const detailsMax = 2_000;

/** Calls a container runtime, a CRI v1 server on a Unix socket. Each call ends within its timeout. */
export class ContainerRuntime {
  private readonly runtime: Http2Channel;
  private readonly images: Http2Channel;
  private isClosed = false;

  constructor(private readonly options: Options) {
    const { endpoint, imageEndpoint, clock } = options;
    this.runtime = new Http2Channel({ url: endpoint, clock, messageBytesMax: answerBytesMax });
    this.images =
      imageEndpoint === endpoint
        ? this.runtime
        : new Http2Channel({ url: imageEndpoint, clock, messageBytesMax: answerBytesMax });
  }

  /** Rejects with a RuntimeError. */
  async call<M extends Method>(
    method: M,
    request: RequestOf<M>,
    { timeoutMs = this.options.requestTimeoutMs, signal }: CallOptions = {},
  ): Promise<ResponseOf<M>> {
    const { clock, observer } = this.options;
    const messages = methods[method] as unknown as {
      readonly request: Message<RequestOf<M>>;
      readonly response: Message<ResponseOf<M>>;
    };
    const frame = messages.request.encode(request);
    const { decode } = messages.response;
    const beginMs = clock.monotonicMs();
    const deadlineMs = beginMs + timeoutMs;
    const redialDeadlineMs = beginMs + Math.min(timeoutMs, redialMsMax);
    const channel = isImageMethod(method) ? this.images : this.runtime;
    const ended = (code: number) => observer.called(method, grpcCodeName(code), (clock.monotonicMs() - beginMs) / 1000);
    for (;;) {
      try {
        await channel.connect(Math.max(1, Math.min(connectMsMax, deadlineMs - clock.monotonicMs())));
        const leftMs = Math.max(1, deadlineMs - clock.monotonicMs());
        const answer = await channel.unary({
          ...{ path: pathOf(method), frame, decode, signal },
          deadlineMs: clock.now() + leftMs,
        });
        ended(grpcStatus.ok);
        return answer;
      } catch (error) {
        const canRetry = error instanceof NotConnectedError && !this.isClosed && signal?.aborted !== true;
        if (canRetry && clock.monotonicMs() + redialMs < redialDeadlineMs) {
          await sleep(clock, redialMs);
          continue;
        }
        const code = error instanceof GrpcError ? error.code : grpcStatus.unavailable;
        ended(code);
        throw new RuntimeError(`rpc error: code = ${grpcCodeName(code)} desc = ${detailsOf(error)}`, code, {
          cause: error,
        });
      }
    }
  }

  close(): void {
    this.isClosed = true;
    this.runtime.close();
    if (this.images !== this.runtime) this.images.close();
  }
}

function detailsOf(error: unknown): string {
  const text = error instanceof GrpcError ? error.details : error instanceof Error ? error.message : String(error);
  return text.slice(0, detailsMax);
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OutputChoice } from '../codec/negotiate.js';
import type { RequestInfo } from '../machinery/request-info.js';
import { anonymousUser, type UserInfo } from '../machinery/user-info.js';
import type { RequestContext } from '../registry/request-context.js';

declare module 'fastify' {
  interface FastifyRequest {
    kube: RequestState;
  }
}

/** How an answer by HTTP/1.1 tells that it is over. */
export interface AnswerEnd {
  readonly destroyed: boolean;
  readonly writableFinished: boolean;
  once(event: 'close', run: () => void): unknown;
}

/**
 * What is known of a request, from the first hook to the last. Made once; guards and the interceptor fill in their
 * part, so fields are declared up front and nothing is looked up twice.
 */
export class RequestState {
  user: UserInfo = anonymousUser;
  /** Who really sent it, where `user` is impersonated. */
  impersonator: UserInfo | undefined = undefined;
  output: OutputChoice | undefined = undefined;
  readonly warnings: string[] = [];
  /** Set when the answer goes on after its head: metrics count it as long-running. */
  isStreaming = false;
  /** Bytes of the body that were sent, where the shell counts them. */
  sentBytes = 0;
  /** The deadline has passed and the client has its answer: whatever comes after it is dropped. */
  isExpired = false;
  private annotations: Map<string, string> | undefined = undefined;
  private aborter: AbortController | undefined = undefined;

  constructor(
    readonly info: RequestInfo,
    readonly auditId: string,
    /** On the monotonic clock. */
    readonly startMs: number,
    /** Absent where the request is refused before anybody could work on it. */
    private readonly answer?: AnswerEnd,
  ) {}

  get auditAnnotations(): Map<string, string> {
    return (this.annotations ??= new Map<string, string>());
  }

  /** Aborted when the client has gone. Made on demand: most requests are answered before anybody could ask. */
  signalOf(request: FastifyRequest): AbortSignal {
    if (this.aborter) return this.aborter.signal;
    const aborter = (this.aborter = new AbortController());
    const gone = () => aborter.abort(new Error('the client has gone'));
    const stream = (request.raw as { stream?: { once(event: 'close', run: () => void): void } }).stream;
    const { answer } = this;
    if (stream) stream.once('close', gone);
    // The request closes as soon as its body was read; only an answer that closes unfinished has lost its reader.
    else if (answer?.destroyed && !answer.writableFinished) gone();
    else answer?.once('close', () => !answer.writableFinished && gone());
    return aborter.signal;
  }

  /** Tells whoever works on the request to stop, and lets nobody answer it any more. */
  expire(reason: Error): void {
    this.isExpired = true;
    (this.aborter ??= new AbortController()).abort(reason);
  }

  /** The request as the verbs see it. */
  context(request: FastifyRequest, options: { dryRun: boolean; fieldManager: string }): RequestContext {
    return {
      user: this.user,
      signal: this.signalOf(request),
      warnings: this.warnings,
      dryRun: options.dryRun,
      fieldManager: options.fieldManager,
      auditAnnotations: this.auditAnnotations,
    };
  }
}

export type KubeRequest = FastifyRequest;
export type KubeReply = FastifyReply;

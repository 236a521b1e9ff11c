import type { OutputChoice } from '../codec/negotiate.js';
import type { RequestInfo } from '../machinery/request-info.js';
import { anonymousUser, type UserInfo } from '../machinery/user-info.js';
import { sharedAbort } from '../std/shared-abort.js';
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
  /** Bytes of the body that were read; undefined where nobody wanted them. */
  receivedBytes: number | undefined = undefined;
  /** The deadline has passed. */
  isExpired = false;
  /** Something has answered, or is about to, before the event loop turns. */
  private isAnswered = false;
  private annotations: Map<string, string> | undefined = undefined;
  private aborter: AbortController | undefined = undefined;
  private endings: (() => void)[] | undefined = undefined;

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

  /** True for the first caller alone, who then answers: a handler and the deadline may both want to. */
  claimAnswer(): boolean {
    const isFirst = !this.isAnswered;
    this.isAnswered = true;
    return isFirst;
  }

  /** Runs `task` when the answer has closed: sent, or given up because the client has gone. */
  whenEnded(task: () => void): void {
    (this.endings ??= []).push(task);
  }

  end(): void {
    // The request closes as soon as its body was read; only an answer that closes unfinished has lost its reader.
    if (this.aborter && !this.answer?.writableFinished) this.aborter.abort(new Error('the client has gone'));
    for (const task of this.endings ?? []) task();
  }

  /** Aborted when the client has gone. Made on demand: most requests are answered before anybody could ask. */
  get signal(): AbortSignal {
    if (this.aborter) return this.aborter.signal;
    this.aborter = sharedAbort();
    const { answer } = this;
    if (answer?.destroyed && !answer.writableFinished) this.aborter.abort(new Error('the client has gone'));
    return this.aborter.signal;
  }

  /** Tells the work on the request to stop. */
  expire(reason: Error): void {
    this.isExpired = true;
    (this.aborter ??= sharedAbort()).abort(reason);
  }

  /** The request as the verbs see it. */
  context(options: { dryRun: boolean; fieldManager: string }): RequestContext {
    return new VerbContext(this, options.dryRun, options.fieldManager);
  }
}

/** Asks the state for what costs something only when a verb does. */
class VerbContext implements RequestContext {
  readonly user: UserInfo;
  readonly verb: string;
  readonly warnings: string[];
  constructor(
    private readonly state: RequestState,
    readonly dryRun: boolean,
    readonly fieldManager: string,
  ) {
    this.user = state.user;
    this.verb = state.info.verb;
    this.warnings = state.warnings;
  }
  get signal(): AbortSignal {
    return this.state.signal;
  }
  get auditAnnotations(): Map<string, string> {
    return this.state.auditAnnotations;
  }
}

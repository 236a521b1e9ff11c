import type { RequestAudit } from '../audit/request-audit.js';
import type { AuthorizerList } from '../auth/authorizer.js';
import type { Subscribe } from '../cache/watch-request.js';
import type { FlowRequest } from '../flow/flow-request.js';
import type { OutputChoice } from '../codec/negotiate.js';
import type { RequestInfo } from '../machinery/request-info.js';
import { anonymousUser, type UserInfo } from '../machinery/user-info.js';
import type { Clock } from '../std/clock.js';
import { Canceller, type Cancellation } from '../std/cancellation.js';
import type { AdmissionTrace } from '../registry/admission-trace.js';
import type { RequestContext } from '../registry/request-context.js';
import type { RequestRecord } from '../registry/request-record.js';
import type { Served } from '../registry/resource-registry.js';
import { RequestSteps } from '../tracing/request-steps.js';

declare module 'fastify' {
  interface FastifyRequest {
    kube: RequestState;
  }
}

/** The trace of admission, with the steps as the client gets them. */
interface AdmissionExplanation extends AdmissionTrace {
  readonly steps: readonly unknown[];
}

/** The end of a response, as Node's ServerResponse reports it. */
export interface AnswerEnd {
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  once(event: 'close', run: () => void): unknown;
}

/**
 * State of a request, created by the first hook; guards and the interceptor set their fields. All fields are declared
 * in the class, so that its instances have one hidden class in V8.
 */
export class RequestState extends RequestSteps {
  user: UserInfo = anonymousUser;
  /** The authenticated user, if `user` is impersonated. */
  impersonator: UserInfo | undefined = undefined;
  /** The permission by which the impersonation is allowed, if it is not `impersonate`. */
  impersonationConstraint = '';
  /** Records the request in the audit log; undefined if it is not recorded. */
  audit: RequestAudit | undefined = undefined;
  /** The authorizers that decided about the impersonation of a user, and decide about the request. */
  authorizers: AuthorizerList | undefined = undefined;
  /** The resource in the path; undefined for other requests and for resources that are not served. */
  served: Served | undefined = undefined;
  /** The negotiated encoding and transform of a resource request. */
  output: OutputChoice | undefined = undefined;
  readonly warnings: string[] = [];
  /** The classification and the seats of the request; undefined without priority and fairness. */
  flow: FlowRequest | undefined = undefined;
  /** Set if the client asked for an explanation of admission. */
  explanation: AdmissionExplanation | undefined = undefined;
  /**
   * Injects faults that depend on the name of the object, which the path of a create does not have. Called once; throws or
   * rejects if the request must not be executed. Undefined if no fault depends on the name.
   */
  nameKnown: ((name: string) => true | Promise<true>) | undefined = undefined;
  private watchChanges: ((subscribe: Subscribe) => Subscribe)[] | undefined = undefined;
  /** True for a response that continues after its head (watch, connect); the access log does not report it as slow. */
  isStreaming = false;
  /** Bytes of the response body, if it was counted. */
  sentBytes = 0;
  /** Bytes of the request body; undefined if it was not read. */
  receivedBytes: number | undefined = undefined;
  /** True once the deadline has passed. */
  isExpired = false;
  /** Time of the monotonic clock at which the response closed. */
  endedMs = 0;
  /** True once claimAnswer() was called. */
  private isAnswered = false;
  private lost: (() => void) | undefined = undefined;
  private annotations: Map<string, string> | undefined = undefined;
  private canceller: Canceller | undefined = undefined;
  private endings: (() => void)[] | undefined = undefined;

  constructor(
    public info: RequestInfo,
    readonly auditId: string,
    clock: Clock,
    /** Absent for a request that the router refused. */
    private readonly answer?: AnswerEnd,
  ) {
    super(clock);
  }

  get steps(): RequestSteps {
    return this;
  }

  get auditAnnotations(): Map<string, string> {
    return (this.annotations ??= new Map<string, string>());
  }

  /** Returns true to the first caller only, which then sends the response. Handler and deadline compete for it. */
  claimAnswer(): boolean {
    const isFirst = !this.isAnswered;
    this.isAnswered = true;
    if (!isFirst || !this.lost) return isFirst;
    this.lost();
    return false;
  }

  /** Calls `cut` instead of sending the response, once the request has been executed. */
  loseAnswer(cut: () => void): void {
    this.lost = cut;
  }

  /** Changes what the watch of this request sends, by a fault plan. */
  changeWatch(change: (subscribe: Subscribe) => Subscribe): void {
    (this.watchChanges ??= []).push(change);
  }

  /** Returns `subscribe` with the changes of changeWatch(), the last one outermost. */
  changedWatch(subscribe: Subscribe): Subscribe {
    return (this.watchChanges ?? []).reduce((changed, change) => change(changed), subscribe);
  }

  /** Runs `task` when the response closes: after it was sent, or when the client disconnects. */
  whenEnded(task: () => void): void {
    (this.endings ??= []).push(task);
  }

  /** Keeps authorizers for all decisions about this request. */
  holdAuthorizers(chain: AuthorizerList): void {
    chain.hold();
    this.authorizers = chain;
    this.whenEnded(() => this.releaseAuthorizers());
  }

  releaseAuthorizers(): void {
    this.authorizers?.release();
    this.authorizers = undefined;
  }

  end(): void {
    // The request closes once its body was read; an unfinished response that closes means that the client disconnected.
    if (this.canceller && !isSent(this.answer)) this.canceller.cancel(disconnected());
    this.endedMs = this.clock.monotonicMs();
    this.flow?.finish(this.endedMs);
    for (const task of this.endings ?? []) task();
  }

  /** Cancelled when the client disconnects or the deadline passes. */
  get signal(): Cancellation {
    if (this.canceller) return this.canceller;
    this.canceller = new Canceller();
    const { answer } = this;
    if (answer?.destroyed && !isSent(answer)) this.canceller.cancel(disconnected());
    return this.canceller;
  }

  /** Marks the request as expired and cancels `signal`. */
  expire(reason: Error): void {
    this.isExpired = true;
    (this.canceller ??= new Canceller()).cancel(reason);
  }

  /** Returns the context that verbs get. */
  context(
    { dryRun, fieldManager }: { dryRun: boolean; fieldManager: string },
    options?: RequestContext['options'],
  ): RequestContext {
    return new VerbContext(this, dryRun, fieldManager, options);
  }
}

/** Reads properties that are created on demand from the state only when a verb uses them. */
class VerbContext implements RequestContext {
  readonly user: UserInfo;
  readonly verb: string;
  readonly warnings: string[];
  constructor(
    private readonly state: RequestState,
    readonly dryRun: boolean,
    readonly fieldManager: string,
    readonly options: RequestContext['options'],
  ) {
    this.user = state.user;
    this.verb = state.info.verb;
    this.warnings = state.warnings;
  }
  get steps(): RequestSteps {
    return this.state;
  }
  get trace(): AdmissionTrace | undefined {
    return this.state.explanation;
  }
  get signal(): Cancellation {
    return this.state.signal;
  }
  get auditAnnotations(): Map<string, string> {
    return this.state.auditAnnotations;
  }
  get record(): RequestRecord | undefined {
    return this.state.audit;
  }
}

/** In HTTP/2, a response whose client has disconnected is finished as well, but not ended. */
const isSent = (answer: AnswerEnd | undefined): boolean => answer?.writableEnded === true && answer.writableFinished;

const disconnected = (): Error => new Error('the client closed the connection');
